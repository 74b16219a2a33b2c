import Foundation
import PushSupport

/// The manual page of `martlet`, or of one of its commands with all its subcommands.
struct ManualPage {
    private let command: CommandTree
    /// The words of the command after `martlet`, empty for `martlet` itself.
    private let words: [String]
    /// The options that all commands of the page share and that the page describes only once.
    private let common: [CommandTree.Argument]

    /// Returns all pages by their file names.
    /// - Parameter date: The date to show on the pages.
    /// - Throws: An error if the descriptions of the commands cannot be read.
    static func all(date: Date) throws -> [(name: String, text: String)] {
        let root = try CommandTree.root()
        let pages = [ManualPage(root, [])] + root.children.map { ManualPage($0, [$0.commandName]) }
        let names = pages.map(\.name)
        return pages.map { page in
            ("\(page.name).1", page.written(date, seeAlso: names.filter { $0 != page.name }.sorted()))
        }
    }

    private init(_ command: CommandTree, _ words: [String]) {
        (self.command, self.words) = (command, words)
        let leaves = Self.leaves(of: command)
        let first = words.isEmpty ? [] : leaves.first?.shownArguments ?? []
        self.common = first.filter { argument in
            leaves.count > 1 && argument.kind != "positional"
                && leaves.allSatisfy { $0.shownArguments.contains { $0.identity == argument.identity } }
        }
    }

    private var name: String { (["martlet"] + self.words).joined(separator: "-") }

    /// Returns those commands that have no subcommands, among a command and all commands below it.
    private static func leaves(of command: CommandTree) -> [CommandTree] {
        command.children.isEmpty ? [command] : command.children.flatMap(self.leaves)
    }

    /// Returns the source of the page in mdoc, a markup language for manual pages.
    /// - Parameter others: The names of the other pages.
    private func written(_ date: Date, seeAlso others: [String]) -> String {
        var text = ManualText()
        text.add("Dd", Self.text(of: date))
        text.add("Dt", self.name.uppercased(), "1")
        text.add("Os", "Martlet \(MartletVersion.number)")
        text.add("Sh", "NAME")
        text.add("Nm", self.name)
        text.add("Nd", Self.withoutFullStop(self.command.abstract ?? ""))
        text.add("Sh", "SYNOPSIS")
        self.synopsis(of: self.command, self.words, &text)
        text.add("Sh", "DESCRIPTION")
        self.describe(&text)
        self.environment(&text)
        self.files(&text)
        text.add("Sh", "EXIT STATUS")
        text.raw(".Bl -tag -width Ds")
        for status in ExitStatus.allCases {
            text.add("It", "\(status.rawValue)")
            text.paragraphs(status.meaning)
        }
        text.raw(".El")
        self.examples(&text)
        text.add("Sh", "SEE ALSO")
        let last = others.last
        for other in others { text.raw(".Xr \(other) 1\(other == last ? "" : " ,")") }
        return text.text
    }

    /// Adds the description of the command, its options and all its subcommands.
    private func describe(_ text: inout ManualText) {
        text.paragraphs(self.command.abstract ?? "")
        if !self.command.details.isEmpty {
            text.raw(".Pp")
            text.paragraphs(self.command.details)
        }
        if self.words.isEmpty {
            text.raw(".Bl -tag -width Ds")
            for child in self.command.children {
                text.add("It", "Ic", child.commandName)
                text.paragraphs(child.abstract ?? "")
            }
            text.raw(".El")
        } else if self.command.children.isEmpty {
            self.options(self.command.shownArguments, &text)
        } else {
            for child in self.command.children { self.section(of: child, self.words + [child.commandName], &text) }
            if !self.common.isEmpty {
                text.add("Ss", "Options of all commands")
                self.options(self.common, &text)
            }
        }
    }

    /// Adds the description of a subcommand, or of all subcommands below it if it has any.
    private func section(of command: CommandTree, _ words: [String], _ text: inout ManualText) {
        guard command.children.isEmpty else {
            for child in command.children { self.section(of: child, words + [child.commandName], &text) }
            return
        }
        text.add("Ss", "martlet \(words.joined(separator: " "))")
        text.raw(".Bd -ragged")
        self.synopsis(of: command, words, &text)
        text.raw(".Ed")
        text.raw(".Pp")
        text.paragraphs([command.abstract ?? "", command.details].filter { !$0.isEmpty }.joined(separator: " "))
        let common = Set(self.common.map(\.identity))
        self.options(command.shownArguments.filter { !common.contains($0.identity) }, &text)
    }

    private func synopsis(of command: CommandTree, _ words: [String], _ text: inout ManualText) {
        text.add("Nm", (["martlet"] + words).joined(separator: " "))
        if !command.children.isEmpty { text.raw(command.defaultSubcommand == nil ? ".Ar command" : ".Op Ar command") }
        text.raw(".Op Ar options")
        for argument in command.shownArguments where argument.kind == "positional" {
            let name = (argument.valueName ?? "value") + (argument.isRepeating ? " ..." : "")
            text.raw(argument.isOptional ? ".Op Ar \(name)" : ".Ar \(name)")
        }
    }

    private func options(_ arguments: [CommandTree.Argument], _ text: inout ManualText) {
        guard !arguments.isEmpty else { return }
        text.raw(".Bl -tag -width Ds")
        for argument in arguments {
            let value = argument.valueName ?? "value"
            switch argument.kind {
            case "positional": text.raw(".It Ar \(value)")
            case "flag": text.raw(".It \(Self.flags(argument))")
            default: text.raw(".It \(Self.flags(argument)) Ar \(value)")
            }
            let isShown = argument.setting == nil && argument.kind != "flag"
            let standard = isShown ? argument.defaultValue.map { " Default: \($0)." } ?? "" : ""
            text.paragraphs((argument.abstract ?? "") + standard)
        }
        text.raw(".El")
    }

    private static func flags(_ argument: CommandTree.Argument) -> String {
        (argument.names ?? []).map { "Fl \($0.spelling.dropFirst())" }.joined(separator: " , ")
    }

    /// The settings that the commands of the page read, in the order of the table of settings.
    private var settings: [Setting] {
        let arguments = Self.leaves(of: self.command).flatMap(\.shownArguments)
        let keys = Set(arguments.compactMap { $0.setting?.key })
        return SettingTable.all.flatMap(\.settings).filter { keys.contains($0.key) }
    }

    private func environment(_ text: inout ManualText) {
        text.add("Sh", "ENVIRONMENT")
        text.paragraphs(
            "Each setting has an environment variable. Flags win over it, and it wins over the settings file."
        )
        let settings = self.words.isEmpty ? LogSettings.settings : self.settings
        if !settings.isEmpty {
            text.raw(".Bl -tag -width Ds")
            for setting in settings {
                text.add("It", "Ev", setting.environmentVariable)
                text.paragraphs(setting.argumentHelp)
            }
            text.raw(".El")
        }
        text.raw(".Pp")
        text.paragraphs(
            "'martlet help settings' lists all of them. An unknown variable with the prefix MARTLET_ is an error."
        )
    }

    private func files(_ text: inout ManualText) {
        text.add("Sh", "FILES")
        text.raw(".Bl -tag -width Ds")
        text.add("It", "Pa", SettingsReader.defaultFile)
        text.paragraphs(
            """
            The settings in JSON, if the working directory has this file and --config names no other. An unknown key \
            is an error.
            """
        )
        for setting in self.settings where setting.defaultText?.hasPrefix("martlet-data/") == true {
            text.add("It", "Pa", setting.defaultText ?? "")
            text.paragraphs("\(setting.summary) (\(setting.key)).")
        }
        text.raw(".El")
    }

    private func examples(_ text: inout ManualText) {
        func examples(of command: CommandTree) -> [String] { command.examples + command.children.flatMap(examples) }
        let own = self.words.isEmpty ? self.command.examples : examples(of: self.command)
        guard !own.isEmpty else { return }
        text.add("Sh", "EXAMPLES")
        var seen: Set<String> = []
        text.literal(own.filter { seen.insert($0).inserted }.joined(separator: "\n"))
    }

    private static func withoutFullStop(_ text: String) -> String {
        text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// Formats a date as mdoc requires, such as `November 22, 2026`.
    private static func text(of date: Date) -> String {
        let style = Date.VerbatimFormatStyle(
            format: "\(month: .wide) \(day: .defaultDigits), \(year: .defaultDigits)",
            locale: Locale(identifier: "en_US_POSIX"),
            timeZone: .gmt,
            calendar: Calendar(identifier: .gregorian)
        )
        return date.formatted(style)
    }
}

/// The source of a manual page in mdoc, the markup of Debian's and the BSDs' manual pages, built line by line.
private struct ManualText {
    private(set) var lines: [String] = []

    var text: String { self.lines.joined(separator: "\n") + "\n" }

    /// Adds a line with a macro and its arguments, such as `.Sh NAME`. Arguments with spaces are quoted.
    mutating func add(_ macro: String, _ words: String...) {
        let words = words.map { word in
            let text = Self.escaped(word)
            return text.contains(" ") ? "\"\(text.replacing("\"", with: "\\(dq"))\"" : text
        }
        self.lines.append(([".\(macro)"] + words).joined(separator: " "))
    }

    mutating func raw(_ line: String) { self.lines.append(line) }

    /// Adds paragraphs. Each sentence begins a new line, as mdoc requires. In `text`, an empty line begins a paragraph.
    mutating func paragraphs(_ text: String) {
        for (index, paragraph) in text.components(separatedBy: "\n\n").enumerated() {
            if index > 0 { self.raw(".Pp") }
            self.sentences(paragraph.replacing("\n", with: " "))
        }
    }

    private mutating func sentences(_ text: String) {
        var line = ""
        for word in text.split(separator: " ") {
            line += line.isEmpty ? Self.escaped(String(word)) : " \(Self.escaped(String(word)))"
            guard let last = word.last(where: { !")'\"".contains($0) }), ".?!:;".contains(last) else { continue }
            guard last != ":", last != ";" else { continue }
            self.raw(Self.guarded(line))
            line = ""
        }
        if !line.isEmpty { self.raw(Self.guarded(line)) }
    }

    mutating func literal(_ text: String) {
        self.raw(".Bd -literal -offset indent")
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            self.raw(Self.guarded(Self.escaped(String(line))))
        }
        self.raw(".Ed")
    }

    /// Returns the line, escaped if mdoc would interpret it as a macro.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : line
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("…", with: "...").replacing("–", with: "\\(en")
    }
}
