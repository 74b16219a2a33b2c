import ArgumentParser

/// Returns a value with a change, for calls that add one part after the other.
func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
    var value = value
    change(&value)
    return value
}

/// Makes the configuration of a command from its name and the sentence that lists show.
func command(_ name: String, _ abstract: String = "") -> CommandConfiguration {
    CommandConfiguration(commandName: name, abstract: abstract)
}

/// The parts of a command's help, each added by a call, as for the rows of the table of settings.
extension CommandConfiguration {
    /// The words before each example.
    static let exampleMark = "Example: martlet "

    /// Returns the configuration with the sentence that lists show.
    func help(_ abstract: String) -> Self { changed(self) { $0.abstract = abstract } }

    /// Returns the configuration with a further sentence, which the help of the command itself shows.
    func detail(_ sentence: String) -> Self {
        changed(self) { $0.discussion += ($0.discussion.isEmpty ? "" : " ") + sentence }
    }

    /// Returns the configuration with an example after all sentences.
    /// - Parameter words: The words after `martlet`.
    func example(_ words: String) -> Self {
        changed(self) {
            // Several examples stand together.
            let isNext = $0.discussion.split(separator: "\n").last?.hasPrefix(Self.exampleMark) == true
            let gap = $0.discussion.isEmpty ? "" : isNext ? "\n" : "\n\n"
            $0.discussion += "\(gap)\(Self.exampleMark)\(words)"
        }
    }

    /// Returns the configuration with the commands below this one.
    func subcommands(_ commands: [any ParsableCommand.Type]) -> Self { changed(self) { $0.subcommands = commands } }

    /// Returns the configuration with the command that runs where no subcommand is named.
    func defaultSubcommand(_ command: any ParsableCommand.Type) -> Self {
        changed(self) { $0.defaultSubcommand = command }
    }
}
