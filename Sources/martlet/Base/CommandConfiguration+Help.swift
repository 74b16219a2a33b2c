import ArgumentParser
import PushSupport

/// Returns a copy of `value` that the closure `change` has modified.
func changed<Value>(_ value: Value, _ change: (inout Value) -> Void) -> Value {
    var value = value
    change(&value)
    return value
}

/// Creates the configuration of a command with its name and the sentence that describes it in lists of commands.
func command(_ name: String, _ abstract: String = "") -> CommandConfiguration {
    CommandConfiguration(commandName: name, abstract: abstract)
}

/// Methods that each add one element to the help of a command.
extension CommandConfiguration {
    /// The words with which each example in the help of a command begins.
    static let exampleMark = "Example: martlet "

    func help(_ abstract: String) -> Self { changed(self) { $0.abstract = abstract } }

    /// Returns the configuration with a further sentence in the help of the command itself.
    func detail(_ sentence: String) -> Self {
        changed(self) { $0.discussion += ($0.discussion.isEmpty ? "" : " ") + sentence }
    }

    /// Returns the configuration with an example, which help shows after all sentences.
    /// - Parameter words: The words after `martlet`.
    func example(_ words: String) -> Self {
        changed(self) {
            // Several examples follow each other without an empty line.
            let isNext = $0.discussion.split(separator: "\n").last?.hasPrefix(Self.exampleMark) == true
            let gap = $0.discussion.isEmpty ? "" : isNext ? "\n" : "\n\n"
            $0.discussion += "\(gap)\(Self.exampleMark)\(words)"
        }
    }

    func subcommands(_ commands: [any ParsableCommand.Type]) -> Self { changed(self) { $0.subcommands = commands } }

    func defaultSubcommand(_ command: any ParsableCommand.Type) -> Self {
        changed(self) { $0.defaultSubcommand = command }
    }
}

/// Descriptions, for the help of an option, of the values that the corresponding member of a request may have.
extension Schema {
    /// The values that the member may have, such as `none, counts or device`.
    var words: String {
        let choices = self.choices
        guard let last = choices.last, choices.count > 1 else { return choices.joined() }
        return "\(choices.dropLast().joined(separator: ", ")) or \(last)"
    }

    /// The range of a numeric member, such as `1 to 1000`, or an empty string if the member has no range.
    var bounds: String { self.range.map { "\($0.lowerBound) to \($0.upperBound)" } ?? "" }
}

/// The version of the program.
enum Version {
    /// The version number, followed by the commit if the build records it, such as `0.2.0 (1a2b3c4d5)`.
    static let text: String = {
        let (number, commit) = (MartletVersion.number, MartletVersion.commit)
        return commit.isEmpty ? number : "\(number) (\(commit))"
    }()
}
