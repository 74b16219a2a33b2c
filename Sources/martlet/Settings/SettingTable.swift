/// The table of all settings, which `martlet help settings` and `docs/settings.md` show.
enum SettingTable {
    /// One part of the table with its heading.
    struct Part: Sendable {
        /// The first component of the keys.
        let name: String
        /// The commands that read these settings.
        let commands: String
        let settings: [Setting]
    }

    /// The parts in the order of the documentation.
    static let all = [
        Part(
            name: "serve",
            commands: "`martlet serve`; the storage settings `martlet backup`, `check` and `restore` too",
            settings: ServeSettings.Storage.settings + ServeSettings.General.settings + ServeSettings.Limits.settings
                + ServeSettings.Breaker.settings + ServeSettings.Compatibility.settings
        ),
        Part(
            name: "gateway",
            commands: "`martlet gateway run`; `gateway.adminURL` the commands that manage a gateway",
            settings: GatewaySettings.General.settings + GatewaySettings.Listeners.settings
                + GatewaySettings.Behaviour.settings + GatewaySettings.Rules.settings
                + GatewaySettings.Admission.settings + GatewaySettings.Admin.settings
        ),
        Part(name: "device", commands: "`martlet device run`", settings: DeviceSettings.settings),
        Part(
            name: "api",
            commands: "the commands that talk to a provider, such as `martlet app list`",
            settings: APISettings.settings + AppSettings.settings
        ),
        Part(name: "send", commands: "`martlet send`", settings: SendSettings.settings),
        Part(name: "credential", commands: "`martlet credential set`", settings: CredentialSettings.settings),
        Part(name: "log", commands: "every command", settings: LogSettings.settings),
    ]

    /// Returns the parts with the settings whose keys begin with a prefix, such as `serve` or `gateway.rules`.
    static func parts(matching prefix: String?) -> [Part] {
        guard let prefix else { return self.all }
        return self.all.compactMap { part in
            let settings = part.settings.filter { $0.key == prefix || $0.key.hasPrefix("\(prefix).") }
            return settings.isEmpty ? nil : Part(name: part.name, commands: part.commands, settings: settings)
        }
    }
}
