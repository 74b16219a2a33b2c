import ArgumentParser
import Foundation

/// The settings that name a provider.
enum APISettings: SettingSection {
    static let server = Setting("api.server", flag: "server", default: "http://127.0.0.1:8080")
        .help("The provider")
        .detail("`send.server` counts where this is absent.")
    static let key = Setting("api.key", flag: "api-key", kind: .secret)
        .help("API key; better given as MARTLET_API_KEY")
        .detail("Flags are seen in process lists. `send.apiKey` counts where this is absent.")

    static let settings = [server, key]

    /// Returns a client of the provider that the settings name; what `martlet send` reads counts too.
    /// - Throws: ``SettingsError`` for a malformed URL.
    static func client(_ settings: SettingsReader) throws -> APIClient {
        try self.client(settings, [self.server, SendSettings.server], keys: [self.key, SendSettings.apiKey])
    }

    /// Returns a client of the server and with the key that are given first among some settings.
    static func client(_ settings: SettingsReader, _ servers: [Setting], keys: [Setting]) throws -> APIClient {
        let text = servers.lazy.compactMap(settings.string).first ?? self.server.defaultText ?? ""
        let key = keys.lazy.compactMap(settings.string).first
        if let key, !key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) {
            // The value itself must not be shown.
            settings.reject(self.key, "the key has a space, a line break or another character that no key has")
        }
        try settings.check()
        guard let url = URLComponents(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false
        else { throw SettingsError("api.server: '\(text)' is no URL such as http://127.0.0.1:8080") }
        return APIClient(baseURL: text, apiKey: key)
    }
}

/// The options of every command that talks to a running provider.
struct ProviderOptions: APIAccess {
    @OptionGroup var common: CommonOptions
    @OptionGroup var api: SettingFlags<APISettings>
    @Flag(help: "Print the response as JSON.") var json = false

    /// Returns a connection to the whole of the provider's API.
    func connection() async throws -> APIConnection {
        APIConnection(client: try Self.authenticated(try await self.settings()))
    }

    /// Returns the settings of a run.
    func settings() async throws -> SettingsReader { try await self.common.settings([self.api]) }

    /// Returns a client that has an API key.
    static func authenticated(_ settings: SettingsReader) throws -> APIClient {
        let client = try APISettings.client(settings)
        guard client.apiKey != nil else { throw ValidationError("Give an API key: set MARTLET_API_KEY.") }
        return client
    }
}

/// A kind of record that a provider keeps for all apps, or under ids that need no app beside them.
protocol ProviderResource: Resource where Access == ProviderOptions {}
