// The only process of an emulated machine: runs the programs that the kernel was told to pass on, one after the other, says how each
// ended, and turns the machine off.
#include <cstdio>
#include <string>

#include <sys/reboot.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace {

/// What its exit code is, or 128 and the signal that killed it; in the environment that the kernel made of its command line.
int run(const char* program) {
  const pid_t child = fork();
  if (child == 0) {
    execl(program, program, static_cast<const char*>(nullptr));
    std::perror(program);
    _exit(127);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    const std::string program = std::string("/") + arguments[i];
    std::printf("== %s: exit code %d\n", arguments[i], run(program.c_str()));
    std::fflush(stdout);
  }
  std::printf("== end\n");
  std::fflush(stdout);
  tcdrain(STDOUT_FILENO);
  sleep(1);  // the last bytes are still in the serial port
  reboot(RB_POWER_OFF);
}
