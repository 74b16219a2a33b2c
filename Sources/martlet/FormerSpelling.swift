/// The former names of commands and options, which still work in this version, with a warning. Help, completions and
/// manual pages do not show the former names.
enum FormerSpelling {
    /// A command that was renamed, with its former and its current name.
    struct Change {
        /// The words after `martlet` in the previous version.
        let former: [String]
        let current: [String]
    }

    /// An option that has been renamed, or has become the first argument.
    struct OptionChange {
        /// The first words of the commands that have the option.
        let command: [String]
        let former: String
        /// The current name with its hyphens, or `nil` if the value is now the first argument of the command.
        let current: String?
    }

    static let commands = [
        change("key create", "key add"), change("key revoke", "key remove"),
        change("notification send", "send"),
        change("gateway app change", "gateway app set"),
        change("gateway key create", "gateway key add"), change("gateway key revoke", "gateway key remove"),
        change("gateway certificate create", "gateway certificate add"),
        change("gateway certificate revoke", "gateway certificate remove"),
        change("gateway channel create", "gateway channel add"),
        change("gateway channel delete", "gateway channel remove"),
    ]

    static let options = [
        OptionChange(command: ["device"], former: "--admin", current: "--admin-url"),
        OptionChange(command: ["schedule", "set"], former: "--id", current: nil),
    ]

    /// Replaces former names in a command line with current ones, and returns it with a warning for each replaced name.
    static func translated(_ words: [String]) -> (words: [String], warnings: [String]) {
        if words.first == "help" {
            let (rest, warnings) = self.translated(Array(words.dropFirst()))
            return (["help"] + rest, warnings)
        }
        var (words, warnings) = (words, [String]())
        if let change = self.commands.first(where: { words.starts(with: $0.former) }) {
            words.replaceSubrange(..<change.former.count, with: change.current)
            warnings.append(self.warning(change.former, change.current))
        }
        for option in self.options where words.starts(with: option.command) {
            for (index, word) in words.enumerated() where word == option.former || word.hasPrefix("\(option.former)=") {
                guard let current = option.current else {
                    if let warning = Self.makeArgument(at: index, of: option, in: &words) { warnings.append(warning) }
                    break
                }
                words[index] = current + word.dropFirst(option.former.count)
                warnings.append(self.warning([option.former], [current]))
            }
        }
        return (words, warnings)
    }

    /// Converts the value of an option to the first argument of its command.
    /// - Returns: The warning to print, or `nil` for an option without a value, which is left unchanged.
    private static func makeArgument(at index: Int, of option: OptionChange, in words: inout [String]) -> String? {
        let value: String
        if let equals = words[index].firstIndex(of: "=") {
            value = String(words[index][words[index].index(after: equals)...])
        } else if words.indices.contains(index + 1) {
            value = words.remove(at: index + 1)
        } else {
            return nil
        }
        words.remove(at: index)
        words.insert(value, at: option.command.count)
        return self.warning(option.command + ["FILE", option.former, "ID"], option.command + ["ID", "FILE"])
    }

    private static func warning(_ former: [String], _ current: [String]) -> String {
        let (former, current) = (former.joined(separator: " "), current.joined(separator: " "))
        return "'\(former)' is now '\(current)'; the next version does not know the former spelling"
    }

    private static func change(_ former: String, _ current: String) -> Change {
        Change(former: Self.words(former), current: Self.words(current))
    }

    private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
}
