// SPDX-License-Identifier: Apache-2.0
package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockInfo;
import io.holdfast.spi.LockPage;
import io.holdfast.spi.StoreAddress;
import io.holdfast.testkit.Await;
import io.holdfast.testkit.process.LazyServer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Locks are listed in a database that has many other keys. */
@Tag("stores")
@Tag("oldest")
class RedisListingTest {
  private static final Pattern SCANS = Pattern.compile("cmdstat_scan:calls=(\\d+)");
  private static final int OTHERS = 80_000;
  private static final int LOCKS = 2500;
  private static final int STEP = 1000;

  @RegisterExtension
  static final LazyServer<RedisServer> SERVER = new LazyServer<>(RedisServer::forgetful);

  /** One walk over all keys, in parts each of which is far shorter than a request, however few locks it finds. */
  @Test
  void listing_walksOverTheKeysOnce() throws Exception {
    fill();
    try (RedisStore store = (RedisStore)
            new RedisStoreFactory().open(StoreAddress.parse(SERVER.get().uri()));
        Holdfast holdfast = Holdfast.builder().store(store).build()) {
      List<Hold> holds = new ArrayList<>();
      List<String> names = new ArrayList<>();
      for (int i = 0; i < LOCKS; i++) {
        String name = String.format("lock-%04d", i);
        holds.add(holdfast.lock(name).acquire());
        names.add(name);
      }
      LockPage part = Await.value(store.list("lock-", Optional.empty()));
      assertThat(part.next()).isPresent();
      SERVER.get().call(redis -> redis.configResetstat());
      assertThat(holdfast.admin().list("lock-")).extracting(LockInfo::name).isEqualTo(names);
      assertThat(scans()).isLessThan(2L * (OTHERS + LOCKS) / STEP);
      holds.forEach(Hold::close);
    }
  }

  private static void fill() {
    SERVER.get().call(redis -> {
      redis.flushall();
      Map<String, String> some = new HashMap<>();
      for (int i = 0; i < OTHERS; i++) {
        some.put("other-" + i, "");
        if (some.size() == STEP) {
          redis.mset(some);
          some.clear();
        }
      }
      return OTHERS;
    });
  }

  private static long scans() {
    Matcher found = SCANS.matcher(SERVER.get().call(redis -> redis.info("commandstats")));
    assertThat(found.find()).isTrue();
    return Long.parseLong(found.group(1));
  }
}
