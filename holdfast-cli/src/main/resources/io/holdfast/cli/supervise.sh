# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# Runs the command of "holdfast run" in a process group of its own, and ends that group if holdfast dies.
#
# Why a shell: a JVM can neither make a process group, nor hand over a terminal, nor do anything once it was killed.
#
#   holdfast (JVM) --orders--> watcher --signals--> the command's process group
#        |                                                ^
#        +--starts--> this script (supervisor) ---starts--+
#
# holdfast makes four named pipes in DIR, and opens all but DIR/go before it starts us, for reading and writing:
#   DIR/start   one line, the token: the command may begin. Nothing is run before it.
#   DIR/orders  one line each: the name of a signal for the group, or "done"; and from the group "begun": signals act on
#               it from now on, those that came before are sent now; and "until TENTHS": when the group must have been
#               sent SIGKILL, by the clock of look_at_clock. The end of the file means that holdfast is gone; then the
#               watcher ends the group by itself: SIGTERM, and SIGKILL after GRACE tenths of a second, but not later than
#               holdfast has told last.
#   DIR/go      one line, from the watcher: the signals that came before have been sent. Its end instead means that there
#               is no watcher, and nothing is run.
#   DIR/watcher lines from the watcher to holdfast: first "watcher NUMBER", its own number, by which holdfast kills a
#               watcher that does not end: it could be stopped, and go on when another group has the group's number;
#               "ready GROUP STOP" when signals act on the group, with the group's number and the signal that stops it;
#               "told" after each "until", before which holdfast tells nothing more, so that a watcher that is stopped
#               does not make it wait at a full pipe. Only the watcher has it open after "ready", so that its end means
#               that the watcher sends no signal any more; from then on holdfast sends them with "pass", one at a time.
# Our exit status is the command's, 128+n if a signal ended it. The command keeps our stdin, stdout and stderr; and the
# environment, so that no variable is set here before it was started: the name may be one of the environment's.
#
# DIR/stopped has something in it while holdfast has the group stopped: from before the SIGTSTP until after the SIGCONT.
#
# We make DIR/command, with the command's number while we look after it. If it still has it when we have ended, somebody
# has killed us, and our status says nothing about the command.
#
# A group of its own needs job control ("set -m"). bash has it with and without a terminal. dash and its like have it only
# with one, and then take the terminal for themselves; there setsid(1) makes the group (and a session: the command can
# then read a terminal on its stdin, but not open /dev/tty).
#
# The terminal stays with holdfast's own group, so that Ctrl-C and Ctrl-Z reach the script or the pipeline around us
# too; holdfast passes them on. The command gets the terminal when it asks for it, by reading it or by changing its
# settings from the background, which stops it with SIGTTIN or SIGTTOU; or at once with EAGER=yes, which is for a
# holdfast that was typed at a prompt, alone.
#
# WORKFILE, if it is not empty, is a file beside the lock's database. If holdfast dies while it exists, the lock stays taken
# until the lease ends. The watcher then removes it once no process of the group is left; it gives up after 600 looks, and
# the file stays.
#
#   supervise.sh job DIR GRACE EAGER WORKFILE COMMAND [ARG...]
#   supervise.sh pass ORDER GROUP STOP DIR SUPERVISOR
set -u

# DIR GRACE EAGER WORKFILE COMMAND [ARG...]: becomes the command once holdfast and the watcher say so; in the new group.
#
# A shell of its own, because bash catches SIGINT in a subshell, and loses what it catches on its way into exec; before it
# says "begun", because nobody sends a signal until then.
command_of_group() {
  exec 6>&-
  # While 8 is open there is a reader, without which this would wait.
  printf 'begun\n' >"$1/orders" || exit 70
  shift 4
  exec 8<&-
  IFS= read -r HOLDFAST_TOKEN <&9 || exit 70 # "go"
  IFS= read -r HOLDFAST_TOKEN <&7 || exit 70
  exec 7<&- 9<&-
  export HOLDFAST_TOKEN
  exec "$@"
}

# The same, in bash's job.
leave_for_command() {
  trap - HUP INT QUIT TERM
  exec "$BASH" -p "$0" leader "$@"
}

nap() {
  sleep "$1" 2>/dev/null || sleep 1
}

# Sets now, in tenths of a second: the time since the machine was started, which goes on while it is suspended. Without
# /proc the time of day, rounded up. holdfast reads the same clock.
look_at_clock() {
  if read -r now _ </proc/uptime; then
    hundredths=${now#*.}
    now=$((${now%.*} * 10 + ${hundredths%?}))
  else
    now=$((($(date +%s) + 1) * 10))
  fi
}

# has_time_until END: Is there time for a nap before END? Yes, if no END was told.
has_time_until() {
  [ -n "$1" ] || return 0
  look_at_clock
  [ "$now" -lt "$(($1 - 1))" ]
}

# Is there certainly no such process or group any more? What we may not signal, as that of another user, is there.
is_gone() {
  said=$(LC_ALL=C && export LC_ALL && kill -s 0 -- "$1" 2>&1) && return 1
  case $said in
    *'No such process'*) ;;
    *) return 1 ;;
  esac
}

# pass_on ORDER GROUP STOP DIR SUPERVISOR: SUPERVISOR is empty if it has ended
pass_on() {
  case $1 in
    TSTP)
      echo yes >"$4/stopped"
      kill -s "$3" -- "-$2"
      ;;
    *) kill -s "$1" -- "-$2" ;;
  esac
  case $1 in
    # What is stopped cannot end; and the supervisor, stopped by Ctrl-Z, could not tell of it.
    HUP | TERM | KILL) kill -s CONT -- "-$2" ${5:+"$5"} ;;
  esac
  case $1 in
    # Not ":", which would end some shells where the file cannot be made.
    CONT | HUP | TERM | KILL) true >"$4/stopped" ;;
  esac
}

# look_for_supervisor NUMBER: Sets supervisor, if it is still the parent of this process, whose number is NUMBER. Otherwise
# it has ended, and its own number may be another process's.
look_for_supervisor() {
  if [ -r /proc/self/stat ]; then
    read -r stat </proc/self/stat
    # After the name in brackets: state, parent.
    # shellcheck disable=SC2086
    set -- ${stat##*) }
  else
    # shellcheck disable=SC2046
    set -- state $(ps -o ppid= -p "$1")
  fi
  supervisor=''
  [ "${2-}" != "$$" ] || supervisor=$$
}

# end_group GRACE GROUP NUMBER END: SIGTERM now, SIGKILL when GRACE is over, or the time until END.
end_group() {
  # The group that setsid(1) makes may not be there yet; the process that will be it, is.
  looks=50
  until [ "$looks" = 0 ] || kill -s 0 -- "-$2" || ! kill -s 0 "$2"; do
    nap 0.1
    looks=$((looks - 1))
  done
  kill -s TERM -- "-$2"
  look_for_supervisor "$3"
  kill -s CONT -- "-$2" ${supervisor:+"$supervisor"}
  tenths=$1
  while [ "$tenths" -gt 0 ] && has_time_until "$4" && kill -s 0 -- "-$2"; do
    nap 0.1
    tenths=$((tenths - 1))
  done
  kill -s KILL -- "-$2"
  look_for_supervisor "$3"
  [ -z "$supervisor" ] || kill -s CONT "$supervisor"
}

# watch DIR GRACE GROUP STOP WORKFILE NUMBER: passes signals on; STOP is the signal that stops the group, NUMBER that of
# this process. In a group of its own too, so that a SIGKILL to holdfast's group does not reach it, and deaf to the terminal.
watch_group() {
  trap '' HUP INT QUIT TERM TSTP TTIN TTOU
  exec 7<&- 9<&-
  echo "watcher $6" >&4
  begun='' early='' end='' over=''
  while IFS= read -r order <&8; do
    case $begun$order in
      *done)
        exec 4>&-
        rm -rf "$1"
        exit 0
        ;;
      *ended) over=yes ;;
      *until*)
        end=${order#until }
        echo told >&4
        ;;
      begun)
        begun=yes
        look_for_supervisor "$6"
        for order in $early; do
          pass_on "$order" "$3" "$4" "$1" "$supervisor"
        done
        # In this order: without a watcher that has said "ready", nothing is run.
        echo "ready $3 $4" >&4
        echo go >&6
        exec 6>&-
        ;;
      KILL) kill -s KILL "$3" ;; # its group may not be there yet
      yes*)
        look_for_supervisor "$6"
        pass_on "$order" "$3" "$4" "$1" "$supervisor"
        ;;
      *) early="$early $order" ;;
    esac
  done
  exec 6>&-
  rm -rf "$1"
  # What has ended is sent no signal: its number may be another group's.
  [ -n "$over" ] || end_group "$2" "$3" "$6" "$end"
  [ -n "$5" ] || exit 0
  looks=600
  until is_gone "-$3" && is_gone "$3"; do
    looks=$((looks - 1))
    [ "$looks" -gt 0 ] || exit 0
    nap 0.1
  done
  rm -f -- "$5"
} 2>/dev/null

# Is our own group the terminal's foreground group?
in_foreground() {
  if [ -r "/proc/$$/stat" ]; then
    read -r stat <"/proc/$$/stat"
    # After the name in brackets: state, parent, group, session, terminal, foreground group.
    # shellcheck disable=SC2086
    set -- ${stat##*) }
    [ "$3" = "$6" ]
  else
    # shellcheck disable=SC2046
    set -- $(ps -o pgid= -o tpgid= -p $$)
    [ "${1-}" = "${2-}" ]
  fi
}

# Exits as the command did, which has ended. What a wait said before may only be that it was stopped.
command_ended() {
  wait "$child"
  ended=$?
  [ "$ended" = 127 ] || status=$ended # 127: fg has seen the end, and said how it was
  : >"$dir/command"
  exit "$status"
}

# Is a process stopped?
is_stopped() {
  if [ -r "/proc/$1/stat" ]; then
    read -r stat <"/proc/$1/stat"
    stat=${stat##*) }
    [ "${stat%% *}" = T ]
  else
    case $(ps -o stat= -p "$1") in
      T*) ;;
      *) false ;;
    esac
  fi
}

# Lets the command have the terminal until it stops or ends. bash hands over the terminal that its stderr is.
lend_terminal() {
  owner=yes
  fg %1 >/dev/null 2>/dev/tty
  status=$?
  kill -0 "$child" || command_ended
  case $status in
    149 | 150) # it asked for the terminal in the instant before it had it: it is to have it once more
      nap 0.05
      return
      ;;
  esac
  # holdfast has stopped it, and will continue it; maybe late, when a fg has long continued everything else. In this
  # order: an order to stop that was taken back before the first look has been followed before the second.
  if ! [ -s "$dir/stopped" ] && is_stopped "$child"; then
    # Stopped by Ctrl-Z, or by itself: so are we, with everything in holdfast's group but holdfast, which goes on
    # renewing.
    kill -s TSTP 0
  fi
}

# Sets status as a wait for the command tells it. A function of its own, because bash leaves the loop in which a wait tells of a
# SIGTSTP, and would end then.
await_command() {
  wait "$child"
  status=$?
}

supervise() {
  # Ours to survive, not to act on: holdfast gets them too. Before anything is started, which would be left alone.
  trap '' HUP INT QUIT TERM
  leave_for_command "$@" 2>&5 4>&- 5>&- &
  child=$!
  # Expanded in the watcher itself; bash 3 has no BASHPID.
  watch_group "$1" "$2" "$child" TSTP "$4" "${BASHPID:-$(exec sh -c 'echo "$PPID"')}" </dev/null >/dev/null 5>&- &
  exec 5>&- 4>&- 6>&- 7<&- 8<&- 9<&-
  dir=$1 owner=$3
  # bash leaves a script in an fg whose job has died of SIGINT, whatever the script does with that signal; its status is the command's
  trap 'kill -0 "$child" || true >"$dir/command"' EXIT
  if [ "$owner" = yes ] && in_foreground; then
    lend_terminal
  fi
  while :; do
    await_command
    kill -0 "$child" || command_ended
    case $status in
      149 | 150) # SIGTTIN, SIGTTOU: the command wants the terminal
        if [ -s "$dir/stopped" ]; then
          nap 0.1 # it asks again when holdfast has continued it
        elif in_foreground; then
          lend_terminal
        else
          kill -s TSTP 0
          nap 0.2 # where nothing can stop us, for want of a shell that could continue us
        fi
        ;;
      *) # stopped otherwise
        while [ -s "$dir/stopped" ] && kill -0 "$child"; do
          nap 0.1
        done
        if [ "$owner" = yes ] && in_foreground; then
          lend_terminal
        else
          nap 0.2
        fi
        ;;
    esac
  done
}

case $1 in
  command)
    shift
    command_of_group "$@"
    ;;
  leader)
    shift
    printf '%s\n' "$$" >"$1/command" || exit 73
    command_of_group "$@"
    ;;
  watch)
    shift
    watch_group "$@" "$$"
    ;;
  pass)
    shift
    pass_on "$@" 2>/dev/null || :
    ;;
  job)
    shift
    # Opened for reading alone, a pipe waits for a writer, for ever if holdfast has just died. Opened both ways first, it
    # does not wait, and what we read then ends when holdfast does; of DIR/go, when the watcher does. So it is with writing.
    exec 9<>"$1/start" 7<"$1/start" 9>&-
    exec 9<>"$1/orders" 8<"$1/orders" 9>&-
    exec 6<>"$1/go" 9<"$1/go"
    exec 4<>"$1/watcher"
    if [ -n "${BASH_VERSION-}" ]; then
      exec 5>&2
      # "set -m" looks for the terminal on stderr; after that, stderr would only get bash's remarks on how jobs ended.
      { exec 2>/dev/tty; } 2>/dev/null || exec 2>/dev/null
      set -m
      exec 2>/dev/null
      supervise "$@"
    else
      setsid sh "$0" watch "$1" "$2" "$$" STOP "$4" </dev/null >/dev/null 2>&1 &
      exec 4>&-
      exec setsid sh "$0" command "$@"
    fi
    ;;
esac
