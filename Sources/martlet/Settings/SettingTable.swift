import PushSupport

/// The table of all settings, which `martlet help settings` and `docs/settings.md` show.
enum SettingTable {
    /// A section of the table, which has a heading.
    struct Part: Sendable {
        /// The first component of the keys in this section.
        let name: String
        /// The commands that read these settings.
        let commands: String
        var settings: [Setting]

        init(_ name: String, _ commands: String, _ settings: [Setting]) {
            (self.name, self.commands, self.settings) = (name, commands, settings)
        }
    }

    static let all = [
        Part(
            "serve",
            """
            `martlet serve`, and `martlet bridge`; the storage settings `martlet backup`, `check`, `restore` and `migrate` \
            too
            """,
            ServeSettings.Storage.settings + DatabaseSettings.settings + ServeSettings.General.settings
                + ServeSettings.Limits.settings + ServeSettings.Breaker.settings + ServeSettings.Publishing.settings
                + ServeSettings.Entitlement.settings
                + ServeSettings.Compatibility.settings + ServeSettings.Legacy.settings + ServeSettings.Bridge.settings
        ),
        Part(
            "gateway",
            "`martlet gateway run`; `gateway.adminURL` the commands that manage a gateway, and `martlet device`",
            GatewaySettings.General.settings + GatewaySettings.Listeners.settings + GatewaySettings.Behaviour.settings
                + GatewaySettings.Rules.settings + GatewaySettings.UnauthenticatedConnections.settings
                + GatewaySettings.Admin.settings
        ),
        Part("device", "`martlet device run`", DeviceSettings.settings),
        Part("simulator", "`martlet simulator`", SimulatorSettings.settings),
        Part("reader", "`martlet reader`", ReaderSettings.settings),
        Part(
            "api",
            "the commands that talk to a provider, such as `martlet app list`",
            APISettings.settings + AppSettings.settings
        ),
        Part("send", "`martlet send --credential`", SendSettings.settings),
        Part("credential", "`martlet credential set` and `martlet send --credential`", CredentialSettings.settings),
        Part("log", "every command", LogSettings.settings),
    ]

    /// Returns the settings whose keys begin with a prefix, such as `serve` or `gateway.rules`, by section. All are
    /// returned if the prefix is `nil`.
    static func parts(matching prefix: String?) -> [Part] {
        guard let prefix else { return self.all }
        return self.all.compactMap { part in
            var part = part
            part.settings.removeAll { $0.key != prefix && !$0.key.hasPrefix("\(prefix).") }
            return part.settings.isEmpty ? nil : part
        }
    }
}

/// Formats the table of settings.
enum SettingTableText {
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

    /// Returns the sentence that describes a setting, with the range of its values.
    private static func meaning(_ setting: Setting, hasDetail: Bool) -> String {
        let range = setting.kind == Setting.ports ? nil : setting.range
        var text = "\(setting.summary)\(range.map { " (\($0))" } ?? "")."
        guard hasDetail else { return text }
        if let discussion = setting.discussion { text += " \(discussion)" }
        for key in setting.formerKeys { text += " The former name `\(key)` still works in this version." }
        return text
    }
}
