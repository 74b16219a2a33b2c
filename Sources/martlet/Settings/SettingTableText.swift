import PushSupport

/// The table of settings as text.
enum SettingTableText {
    /// Returns an aligned table for terminals.
    static func plain(_ parts: [SettingTable.Part]) -> String {
        let rows = parts.flatMap(\.settings).map { setting -> JSONValue in
            [
                "setting": .string(setting.key), "environment": .string(setting.environmentVariable),
                "flag": .string(setting.flag.map { "--\($0)" } ?? ""), "default": .string(setting.defaultText ?? ""),
                "meaning": .string(Self.meaning(setting, hasDetail: false)),
            ]
        }
        let columns: TextTable = ["setting", "environment", "flag", "default", "meaning"]
        return columns.text(of: rows)
    }

    /// Returns `docs/settings.md`.
    static func markdown(_ parts: [SettingTable.Part]) -> String {
        var text = """
            # Settings

            <!-- Written by `martlet help settings --markdown`: change the table in Sources/martlet, not this file. -->

            Each setting is a flag, an environment variable or a member of a JSON file (`--config`, or `martlet.json` in the
            working directory): `serve.dispatch.page` is `--page`, `MARTLET_SERVE_DISPATCH_PAGE` or
            `{"serve":{"dispatch":{"page":500}}}`. Flags win over the environment, the environment wins over the file. A list
            is a repeated flag, a variable with commas, or an array. A value of the wrong type or out of its range ends the
            start with an error that names the setting; so does a key in the file, or a variable that begins with `MARTLET_`,
            that is no setting.

            """
        for part in parts {
            text += """

                ## \(part.name)

                For \(part.commands).

                | Setting | Environment variable | Flag | Default | Meaning |
                |---|---|---|---|---|

                """
            for setting in part.settings {
                let cells = [
                    "`\(setting.key)`", "`\(setting.environmentVariable)`", setting.flag.map { "`--\($0)`" } ?? "–",
                    setting.defaultText ?? "–", Self.meaning(setting, hasDetail: true),
                ]
                text += "| \(cells.joined(separator: " | ")) |\n"
            }
        }
        return text
    }

    /// Returns the sentence of a setting with its range and, in the documentation, further sentences.
    private static func meaning(_ setting: Setting, hasDetail: Bool) -> String {
        let range = setting.kind == Setting.ports ? nil : setting.range
        var text = "\(setting.summary)\(range.map { " (\($0))" } ?? "")."
        guard hasDetail else { return text }
        if let discussion = setting.discussion { text += " \(discussion)" }
        for key in setting.formerKeys { text += " The former name `\(key)` still works in this version." }
        return text
    }
}
