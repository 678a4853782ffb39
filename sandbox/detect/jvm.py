"""Recipes for Java and its relatives: Maven, Gradle, or the compiler and JUnit alone with Debian's libraries."""

from __future__ import annotations

import re
import shlex

from sandbox.detect.files import Files, below
from sandbox.port import Recipe
from sandbox.runners.jvm import LEFT_OUT

NO_TEST = "-Dtest=NoSuchTest -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false"
SOURCES = ("*.java", "*.kt", "*.groovy", "*.scala")
DEBIAN = {
    "junit": "junit4",
    "junit-vintage-engine": "junit4",
    "mockito-core": "libmockito-java",
    "mockito-all": "libmockito-java",
    "assertj-core": "libassertj-core-java",
    "hamcrest": "libhamcrest-java",
    "hamcrest-core": "libhamcrest-java",
    "hamcrest-library": "libhamcrest-java",
    "hamcrest-all": "libhamcrest-java",
    "truth": "libtruth-java",
    "guava": "libguava-java",
    "guava-testlib": "libguava-testlib-java",
    "jimfs": "libjimfs-java",
    "gson": "libgoogle-gson-java",
    "commons-io": "libcommons-io-java",
    "commons-lang3": "libcommons-lang3-java",
    "commons-codec": "libcommons-codec-java",
    "commons-collections4": "libcommons-collections4-java",
    "commons-logging": "libcommons-logging-java",
    "commons-text": "libcommons-text-java",
    "jackson-core": "libjackson2-core-java",
    "jackson-databind": "libjackson2-databind-java",
    "jackson-annotations": "libjackson2-annotations-java",
    "slf4j-api": "libslf4j-java",
    "slf4j-simple": "libslf4j-java",
    "slf4j-nop": "libslf4j-java",
    "logback-classic": "liblogback-java",
    "log4j-api": "liblog4j2-java",
    "log4j-core": "liblog4j2-java",
    "jsr305": "libjsr305-java",
    "annotations": "libjetbrains-annotations-java",
    "joda-time": "libjoda-time-java",
    "objenesis": "libobjenesis-java",
    "byte-buddy": "libbyte-buddy-java",
}
"""Artifact of Maven -> the Debian package that has it."""
COMPILE = "javac -nowarn -proc:none -encoding UTF-8"


def detect(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """Recipes for the Maven or Gradle build in `folder`."""
    prefix = "" if folder == "." else folder + "/"
    if not files.glob(*(f"{prefix}*src/*test*/{pattern}" for pattern in SOURCES)):
        return []
    built = [*_maven(files, folder, base_image), *_gradle(files, folder, base_image)]
    return [*built, *_plain(files, folder, base_image)]


def _maven(files: Files, folder: str, base_image: str) -> list[Recipe]:
    path = below(folder, "pom.xml")
    if not files.has(path):
        return []
    wrapped = files.has(below(folder, "mvnw")) and files.has(below(folder, ".mvn/wrapper/maven-wrapper.properties"))
    program = "bash ./mvnw" if wrapped else "mvn"
    quiet = "--batch-mode --no-transfer-progress"
    skipped = "-Drat.skip -Dcheckstyle.skip -Denforcer.skip -Dspotbugs.skip -Dmaven.javadoc.skip"
    return [
        Recipe(
            base_image,
            # Plug-ins that only a test run asks for are fetched by running one test that does not exist.
            setup=(f"{program} {quiet} {skipped} {NO_TEST} test",),
            test_command=f"{program} --offline --no-transfer-progress {skipped} test",
            reporter="maven",
            packages=("default-jdk-headless", *(() if wrapped else ("maven",))),
            workdir=folder,
            sources={"setup": path, "test_command": "mvnw" if wrapped else "Maven's own", "base_image": "the default"},
        )
    ]


def _gradle(files: Files, folder: str, base_image: str) -> list[Recipe]:
    names = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
    path = next((below(folder, name) for name in names if files.has(below(folder, name))), "")
    if not path:
        return []
    wrapped = files.has(below(folder, "gradlew"))
    start = "bash ./gradlew --no-daemon" if wrapped else "gradle --no-daemon"
    return [
        Recipe(
            base_image,
            setup=(f"{start} --console=plain testClasses",),
            test_command=f"{start} --offline test",
            reporter="gradle",
            packages=("default-jdk-headless", *(() if wrapped else ("gradle",))),
            workdir=folder,
            sources={
                "setup": path,
                "test_command": "gradlew" if wrapped else "Gradle's own",
                "base_image": "the default",
            },
        )
    ]


def _plain(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """For machines that reach no Maven repository. Tests that need what Debian does not have are left out, and shown.

    Of the dependencies only those are taken that `DEBIAN` lists, in Debian's versions.
    """
    prefix = "" if folder == "." else folder + "/"
    main, test = ("src/main/java", "src/test/java")
    if not files.glob(f"{prefix}{main}/*.java") or not files.glob(f"{prefix}{test}/*.java"):
        return []
    text = files.text(prefix + "pom.xml") or "\n".join(
        files.text(prefix + name) for name in ("build.gradle", "build.gradle.kts")
    )
    named = re.findall(r"<artifactId>\s*([\w.-]+)|['\"][\w.-]+:([\w.-]+):[^'\"]*['\"]", text)
    wanted = [DEBIAN[name] for pair in named if (name := "".join(pair)) in DEBIAN]
    jars = "/usr/share/java/*"
    folders = f"$HOME/classes/test:src/test/resources:$HOME/classes/main:src/main/resources:{jars}"
    return [
        Recipe(
            base_image,
            setup=(),
            test_command=f'java -cp "{folders}" org.junit.platform.console.ConsoleLauncher',
            reporter="junit-console",
            tests=("--scan-classpath",),
            packages=tuple(dict.fromkeys(["default-jdk-headless", "junit5", "junit4", *wanted])),
            build=(
                "rm -rf ~/classes && mkdir -p ~/classes/main ~/classes/test",
                f"find {main} -name '*.java' ! -name module-info.java >~/classes/main.list"
                f" && {COMPILE} -d ~/classes/main -cp {shlex.quote(jars)} @$HOME/classes/main.list",
                _compiling_tests(test, f'"$HOME/classes/main:{jars}"'),
            ),
            build_inputs=("*.java",),
            workdir=folder,
            sources={
                "setup": "the compiler and JUnit alone, with the libraries that Debian has",
                "build": f"the folders {main} and {test}",
                "test_command": "JUnit's console",
                "base_image": "the default",
            },
        )
    ]


def _compiling_tests(folder: str, libraries: str) -> str:
    """A line that compiles the tests that can be, and notes the others in the file that the reporter shows."""
    return (
        f"cd ~/classes && find \"$OLDPWD\"/{folder} -name '*.java' >test.list"
        f" && for try in 1 2 3 4 5 6; do {COMPILE} -Xmaxerrs 10000 -d test -cp {libraries} @test.list >said 2>&1"
        " && break;"
        " grep -E '^[^ :]+\\.java:[0-9]+: error' said | sed -E 's/:[0-9]+: error//' | sort -u -t: -k1,1 >wrong;"
        " [ -s wrong ] || break;"
        f' sed "s#^$OLDPWD/##" wrong >>{LEFT_OUT}; cut -d: -f1 wrong | grep -vxFf - test.list >fine; mv fine test.list;'
        f" done; cat said; [ -n \"$(find test -name '*.class' -print -quit)\" ]"
    )
