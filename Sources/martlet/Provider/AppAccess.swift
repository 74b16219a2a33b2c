import ArgumentParser
import PushSupport

/// The options of every command about something of one app.
struct AppAccess: ParsableArguments {
    @OptionGroup var provider: ProviderAccess

    @Option(help: "The app's bundle id (api.app; MARTLET_API_APP).")
    var app: String?

    var json: Bool { self.provider.json }

    /// The settings, and the app that they or the option name.
    /// - Parameter flags: those of one command.
    func named(_ flags: [String: String?] = [:]) async throws -> (app: String, settings: Settings) {
        let settings = try await self.provider.settings(flags.merging(["api.app": self.app]) { $1 })
        guard let app = settings.string("api.app"), !app.isEmpty else {
            throw ValidationError("Name the app with --app.")
        }
        return (app, settings)
    }

    /// Performs a request about the app and prints its answer, as JSON or in words.
    /// - Parameter parts: what stands between the slashes after `/v1/apps/{app}`.
    func show(
        _ method: HTTPCall.Method,
        _ parts: [String],
        action: String? = nil,
        query: [(String, String?)] = [],
        body: [String: JSONValue?]? = nil,
        _ words: (JSONValue) throws -> String
    ) async throws {
        let (app, settings) = try await self.named()
        let request = APIRequest(method, ["apps", app] + parts, action: action, query: query, body: body)
        try await self.provider.show(request, with: settings, words)
    }

    /// Prints a list that is answered as a whole.
    func list(_ name: String, _ columns: [TextTable.Column]) async throws {
        let (app, settings) = try await self.named()
        try await self.provider.list(name, APIRequest(.get, ["apps", app, name]), with: settings, columns)
    }

    /// Prints the first entries of a list that is answered in pages.
    func list(
        _ name: String,
        _ parts: [String],
        query: [(String, String?)],
        limit: Int,
        _ columns: [TextTable.Column]
    ) async throws {
        let (app, settings) = try await self.named()
        try await self.provider.list(name, ["apps", app] + parts, query: query, limit: limit, with: settings, columns)
    }
}

/// How many entries of a list are shown.
struct LimitOption: ParsableArguments {
    @Option(help: "At most so many.")
    var limit: Int = 100

    func validate() throws {
        guard self.limit > 0 else { throw ValidationError("--limit is at least 1.") }
    }
}
