// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The BOM names what is published: all of it, and nothing else. */
class BomTest {
  private static final Pattern ARTIFACT =
      Pattern.compile("<artifactId>(holdfast-[a-z]+)</artifactId>");

  @Test
  void bom_listsEveryPublishedModule() throws IOException {
    List<String> published = new ArrayList<>();
    for (Path module : Sources.modules()) {
      String name = module.getFileName().toString();
      String pom = Files.readString(module.resolve("pom.xml"));
      if (!pom.contains("<maven.deploy.skip>true<") && !name.equals("holdfast-bom")) {
        published.add(name);
      }
    }

    List<String> listed = new ArrayList<>();
    Matcher artifacts =
        ARTIFACT.matcher(Files.readString(Sources.ROOT.resolve("holdfast-bom/pom.xml")));
    while (artifacts.find()) {
      if (!artifacts.group(1).equals("holdfast-bom")) {
        listed.add(artifacts.group(1));
      }
    }
    assertThat(listed).containsExactlyInAnyOrderElementsOf(published);
  }
}
