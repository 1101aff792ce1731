// SPDX-License-Identifier: Apache-2.0
package io.holdfast.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.TypeMirror;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** People read "200 ms", not {@code PT0.2S}: no text of the product is made from a {@link java.time.Duration} itself. */
class DurationsTest {
  private static final Path MAIN = Path.of("src", "main", "java");
  private static final String DURATION = "java.time.Duration";
  private static final String FORMATTER = "io.holdfast.spi.DurationText";

  /** The compiler says what has which type; what it does not find of optional libraries concerns no duration. */
  @Test
  void noText_isMadeFromADurationItself() throws IOException {
    List<Path> sources = new ArrayList<>();
    for (Path source : Sources.javaFiles()) {
      if (source.toString().contains(MAIN.toString()) && !source.endsWith("module-info.java")) {
        sources.add(source);
      }
    }
    Scan scan = scan(sources);
    assertThat(scan.found).as("a duration that becomes text by its toString()").isEmpty();
    assertThat(scan.written).as("durations that are written for people").isGreaterThan(30);
  }

  private static Scan scan(List<Path> sources) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (var files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
      JavacTask task = (JavacTask) compiler.getTask(
          null,
          files,
          diagnostic -> {},
          List.of("-proc:none", "-XDshould-stop.ifError=FLOW"),
          null,
          files.getJavaFileObjectsFromPaths(sources));
      Iterable<? extends CompilationUnitTree> units = task.parse();
      var unused = task.analyze();
      Scan scan = new Scan(Trees.instance(task));
      units.forEach(unit -> scan.scan(unit, null));
      return scan;
    }
  }

  /** Looks for durations in sums of text and in arguments that are taken as objects, to be written. */
  private static final class Scan extends TreePathScanner<@Nullable Void, @Nullable Void> {
    final List<String> found = new ArrayList<>();
    int written;
    private final Trees trees;

    Scan(Trees trees) {
      this.trees = trees;
    }

    @Override
    public @Nullable Void visitBinary(BinaryTree node, @Nullable Void nothing) {
      if (type(node).equals("java.lang.String")) {
        check(node.getLeftOperand());
        check(node.getRightOperand());
      }
      return super.visitBinary(node, null);
    }

    @Override
    public @Nullable Void visitCompoundAssignment(
        CompoundAssignmentTree node, @Nullable Void nothing) {
      if (type(node.getVariable()).equals("java.lang.String")) {
        check(node.getExpression());
      }
      return super.visitCompoundAssignment(node, null);
    }

    @Override
    public @Nullable Void visitMemberReference(MemberReferenceTree node, @Nullable Void nothing) {
      if (node.getName().contentEquals("toString")) {
        check(node.getQualifierExpression());
      }
      return super.visitMemberReference(node, null);
    }

    @Override
    public @Nullable Void visitMethodInvocation(MethodInvocationTree node, @Nullable Void nothing) {
      if (trees.getElement(getCurrentPath()) instanceof ExecutableElement method
          && method.getEnclosingElement() instanceof TypeElement owner) {
        if (node.getMethodSelect() instanceof MemberSelectTree select
            && method.getSimpleName().contentEquals("toString")) {
          check(select.getExpression());
        }
        if (owner.getQualifiedName().contentEquals(FORMATTER)) {
          written++;
        }
        checkArguments(node, method, owner.getQualifiedName().toString());
      }
      return super.visitMethodInvocation(node, null);
    }

    private void checkArguments(MethodInvocationTree node, ExecutableElement method, String owner) {
      boolean writes = owner.startsWith("java.lang.")
          || owner.startsWith("java.io.")
          || owner.startsWith("java.text.")
          || owner.startsWith("io.holdfast.");
      List<? extends VariableElement> parameters = method.getParameters();
      if (!writes || parameters.isEmpty() || method.getSimpleName().contentEquals("equals")) {
        return;
      }
      for (int i = 0; i < node.getArguments().size(); i++) {
        VariableElement parameter = parameters.get(Math.min(i, parameters.size() - 1));
        String taken = parameter.asType().toString();
        if (taken.endsWith("java.lang.Object") || taken.endsWith("java.lang.Object[]")) {
          check(node.getArguments().get(i));
        }
      }
    }

    private void check(Tree part) {
      String type = type(part);
      if (type.equals(DURATION) || type.equals("java.util.Optional<" + DURATION + ">")) {
        CompilationUnitTree unit = getCurrentPath().getCompilationUnit();
        long line = unit.getLineMap()
            .getLineNumber(trees.getSourcePositions().getStartPosition(unit, part));
        found.add(Sources.ROOT.relativize(Path.of(unit.getSourceFile().toUri())) + ":" + line + ": "
            + part);
      }
    }

    private String type(Tree part) {
      TypeMirror type = trees.getTypeMirror(new TreePath(getCurrentPath(), part));
      return type == null ? "" : type.toString();
    }
  }
}
