// SPDX-License-Identifier: Apache-2.0
package io.holdfast.cli;

import io.holdfast.Guarantees;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastException;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Level;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Stores;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast doctor}. */
@Command(
    name = "doctor",
    header = "Checks the store and says what to change.",
    description = {"", "Exits with 0 if nothing needs attention, 1 if a finding is a problem.", ""},
    footer = {"", "Example:", "  holdfast doctor --store sqlite:/var/lib/jobs/locks.db"},
    sortOptions = false)
final class DoctorCommand implements Callable<Integer> {
  private static final int PROBLEM = 1;
  private static final int TIMEOUT_SECONDS = 10;

  private static final Finding YET_TO_COME = new Finding(
      Level.OK, "file", "does not exist yet: the first \"holdfast run\" creates it", "");

  @Mixin
  StoreOption store = new StoreOption();

  @Option(names = "--json", description = "Print a JSON object.")
  boolean json;

  @Mixin
  Verbosity verbosity = new Verbosity();

  @Override
  public Integer call() {
    Messages messages = verbosity.messages();
    StoreChoice choice = store.chooseToLook(messages);
    LockStore opened = Stores.openExisting(choice.uri());
    List<Finding> findings = choice.isYetToCome() ? List.of(YET_TO_COME) : findings(opened);
    boolean problem = findings.stream().anyMatch(finding -> finding.level() == Level.PROBLEM);
    if (json) {
      Map<String, Object> report = new LinkedHashMap<>();
      report.put("store", opened.describe());
      report.put("healthy", !problem);
      report.put("findings", findings.stream().map(DoctorCommand::json).toList());
      Output.print(Json.write(report));
    } else {
      Output.print("store " + opened.describe());
      findings.forEach(DoctorCommand::print);
    }
    return problem ? PROBLEM : Exit.OK;
  }

  /** A store that cannot be connected to is a finding too, and then the only one. */
  private static List<Finding> findings(LockStore opened) {
    try (Holdfast connected =
        StoreChoice.patient().store(opened).clientName("holdfast").build()) {
      List<Finding> findings = new ArrayList<>();
      Guarantees guarantees = connected.guarantees();
      findings.add(new Finding(Level.OK, "connection", guarantees.store() + " answers", ""));
      findings.addAll(
          opened.diagnose().toCompletableFuture().get(TIMEOUT_SECONDS, TimeUnit.SECONDS));
      return findings;
    } catch (HoldfastException e) {
      return List.of(
          new Finding(Level.PROBLEM, "connection", Failures.explain(e).line(), ""));
    } catch (ExecutionException | TimeoutException e) {
      return List.of(new Finding(
          Level.PROBLEM, "diagnosis", Failures.explainStage(e, TIMEOUT_SECONDS).line(), ""));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CliException(Exit.BUG, "interrupted", e);
    }
  }

  private static void print(Finding finding) {
    String level = finding.level().name().toLowerCase(Locale.ROOT);
    Output.print(
        String.format(Locale.ROOT, "%-8s %s: %s", level, finding.subject(), finding.message()));
    if (!finding.advice().isEmpty()) {
      Output.print("         -> " + finding.advice());
    }
  }

  private static Map<String, Object> json(Finding finding) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("level", finding.level().name().toLowerCase(Locale.ROOT));
    fields.put("subject", finding.subject());
    fields.put("message", finding.message());
    fields.put("advice", finding.advice());
    return fields;
  }
}
