import ArgumentParser

/// The options of every command that sends requests to a running provider.
struct ProviderOptions: APIAccess {
    @OptionGroup var common: CommonOptions
    @OptionGroup var api: SettingFlags<APISettings>
    @Flag(help: "Print the response as JSON.") var json = false

    func connection() async throws -> APIConnection {
        APIConnection(client: try Self.authenticated(try await self.settings()))
    }

    func settings() async throws -> SettingsReader { try await self.common.settings([self.api]) }

    /// Creates a client with an API key.
    /// - Throws: ``SettingsError`` if the settings contain no key.
    static func authenticated(_ settings: SettingsReader) throws -> APIClient {
        let client = try APISettings.client(settings)
        guard client.apiKey?.isEmpty == false else {
            throw SettingsError("give an API key: MARTLET_API_KEY, api.key or --api-key", status: .usage)
        }
        return client
    }
}

/// A kind of record of a provider that belongs to no app, or whose ids are unique among all apps.
protocol ProviderResource: Resource where Access == ProviderOptions {}

/// The options of every command for one app of a provider.
struct AppOptions: APIAccess {
    @OptionGroup var provider: ProviderOptions
    @OptionGroup var flags: SettingFlags<AppSettings>

    var json: Bool { self.provider.json }

    /// Returns a connection whose paths begin with the path component of the app.
    func connection() async throws -> APIConnection { try Self.connection(try await self.settings()) }

    /// Returns the settings with which the command was run.
    /// - Parameter own: The flags of the command, in addition to those of this group.
    func settings(_ own: [any FlagValues] = []) async throws -> SettingsReader {
        try await self.provider.common.settings([self.provider.api, self.flags] + own)
    }

    /// Returns a connection whose paths begin with the path component of the app.
    /// - Throws: ``SettingsError`` if the settings specify no app.
    static func connection(_ settings: SettingsReader) throws -> APIConnection {
        guard let app = settings.string(AppSettings.app), !app.isEmpty else {
            throw SettingsError("name the app: --app, MARTLET_API_APP or api.app", status: .usage)
        }
        return APIConnection(client: try ProviderOptions.authenticated(settings), path: ["apps", app])
    }
}

/// A kind of record of a provider that belongs to one app.
protocol AppResource: Resource where Access == AppOptions {}

/// The options of commands for one app, or for all apps if no app is named.
struct OptionalAppOptions: APIAccess {
    @OptionGroup var app: AppOptions

    var json: Bool { self.app.json }

    /// Returns a connection whose paths begin with the path component of the app, if one is specified.
    func connection() async throws -> APIConnection {
        let settings = try await self.app.settings()
        guard settings.string(AppSettings.app) == nil else { return try AppOptions.connection(settings) }
        return APIConnection(client: try ProviderOptions.authenticated(settings))
    }
}
