// The only process of an emulated machine. It runs the commands that the kernel passes on to it, one after the other,
// prints how each of them ended, and turns the machine off.
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <sys/reboot.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

namespace {

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream text(command);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

/// Runs a command in the environment that the kernel made of its command line. Returns its exit code, or 128 plus the
/// signal that killed it.
int run(std::vector<std::string> words) {
  const std::string path = "/" + words.front();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execv(path.c_str(), arguments.data());
    std::perror(path.c_str());
    _exit(127);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int count, char** commands) {
  for (int i = 1; i < count; ++i) {
    const std::vector<std::string> words = words_of(commands[i]);
    if (words.empty()) continue;
    std::printf("== %s: exit code %d\n", words.front().c_str(), run(words));
    std::fflush(stdout);
  }
  std::printf("== end\n");
  std::fflush(stdout);
  tcdrain(STDOUT_FILENO);
  sleep(1);  // the serial port still has the last bytes
  reboot(RB_POWER_OFF);
}
