/// The table of all settings, which `martlet help settings` and `docs/settings.md` show.
enum SettingTable {
    /// One part of the table with its heading.
    struct Part: Sendable {
        /// The first component of the keys.
        let name: String
        /// The commands that read these settings.
        let commands: String
        var settings: [Setting]

        init(_ name: String, _ commands: String, _ settings: [Setting]) {
            (self.name, self.commands, self.settings) = (name, commands, settings)
        }
    }

    /// The parts in the order of the documentation.
    static let all = [
        Part(
            "serve",
            "`martlet serve`, and `martlet bridge`; the storage settings `martlet backup`, `check` and `restore` too",
            ServeSettings.Storage.settings + ServeSettings.General.settings + ServeSettings.Limits.settings
                + ServeSettings.Breaker.settings + ServeSettings.Publishing.settings
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

    /// Returns the parts with the settings whose keys begin with a prefix, such as `serve` or `gateway.rules`.
    static func parts(matching prefix: String?) -> [Part] {
        guard let prefix else { return self.all }
        return self.all.compactMap { part in
            var part = part
            part.settings.removeAll { $0.key != prefix && !$0.key.hasPrefix("\(prefix).") }
            return part.settings.isEmpty ? nil : part
        }
    }
}
