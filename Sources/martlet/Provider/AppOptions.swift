import ArgumentParser

/// The options of every command about one app of a provider.
struct AppOptions: APIAccess {
    @OptionGroup var provider: ProviderOptions
    @OptionGroup var flags: SettingFlags<AppSettings>

    var json: Bool { self.provider.json }

    /// All paths of the connection begin with the app.
    func connection() async throws -> APIConnection { try Self.connection(try await self.settings()) }

    /// Returns the settings of a run.
    /// - Parameter own: The command's own flags.
    func settings(_ own: [any FlagValues] = []) async throws -> SettingsReader {
        try await self.provider.common.settings([self.provider.api, self.flags] + own)
    }

    /// - Throws: ``SettingsError`` if the settings name no app.
    static func connection(_ settings: SettingsReader) throws -> APIConnection {
        guard let app = settings.string(AppSettings.app), !app.isEmpty else {
            throw SettingsError("name the app: --app, MARTLET_API_APP or api.app", status: .usage)
        }
        return APIConnection(client: try ProviderOptions.authenticated(settings), path: ["apps", app])
    }
}

/// A kind of record that a provider keeps for one app.
protocol AppResource: Resource where Access == AppOptions {}

/// The options of commands about one app, or about all where none is named.
struct OptionalAppOptions: APIAccess {
    @OptionGroup var app: AppOptions

    var json: Bool { self.app.json }

    /// Returns a connection whose paths begin with the app, if one is named.
    func connection() async throws -> APIConnection {
        let settings = try await self.app.settings()
        guard settings.string(AppSettings.app) == nil else { return try AppOptions.connection(settings) }
        return APIConnection(client: try ProviderOptions.authenticated(settings))
    }
}
