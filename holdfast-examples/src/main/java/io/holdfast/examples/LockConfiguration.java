// SPDX-License-Identifier: Apache-2.0
package io.holdfast.examples;

import io.holdfast.DistributedLock;
import io.holdfast.Guarantee;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Holdfast in an application that uses Spring: one client for the whole application, and a bean for each lock that has
 * options of its own.
 *
 * <p>The client is closed with the context, after the beans that were given it: its holds are invalid from then on, and
 * are released. A store that cannot be reached, or that gives less than is required, ends the start of the application.
 */
@Configuration(proxyBeanMethods = false)
class LockConfiguration {
  @Bean(destroyMethod = "close")
  Holdfast holdfast(@Value("${holdfast.store}") String store) {
    return Holdfast.builder().store(store).clientName("billing").build();
  }

  @Bean
  DistributedLock invoices(Holdfast holdfast) {
    holdfast.guarantees().require(Guarantee.EXCLUDES_MACHINES, Guarantee.TOKENS_SURVIVE_RESTART);
    LockOptions options = LockOptions.builder()
        .leaseFor(Duration.ofSeconds(20))
        .note("monthly invoices")
        .build();
    return holdfast.lock("invoices", options);
  }
}
