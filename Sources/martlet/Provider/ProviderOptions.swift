import ArgumentParser
import Foundation

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
        guard client.apiKey?.isEmpty == false else {
            throw SettingsError("give an API key: MARTLET_API_KEY, api.key or --api-key", status: .usage)
        }
        return client
    }
}

/// A kind of record that a provider keeps for all apps, or under ids that need no app beside them.
protocol ProviderResource: Resource where Access == ProviderOptions {}
