import ArgumentParser
import Foundation
import PushSupport

/// The options of every command that talks to a running provider, and its way there.
struct ProviderAccess: ParsableArguments {
    static let defaultServer = "http://127.0.0.1:8080"

    @OptionGroup var common: CommonOptions

    @Option(help: "The provider (api.server; default: http://127.0.0.1:8080).")
    var server: String?

    @Option(help: "API key (api.key); better given as MARTLET_API_KEY.")
    var apiKey: String?

    @Flag(help: "Print the answer as JSON.")
    var json = false

    /// What the flags, the environment and the settings file say; what `martlet send` takes counts too.
    /// - Parameter flags: those of one command.
    func settings(_ flags: [String: String?] = [:]) async throws -> Settings {
        var all = flags.mapValues { $0.setting() }
        all["api.server"] = self.server.setting()
        all["api.key"] = self.apiKey.setting()
        return try await self.common.settings(all)
    }

    /// The way to the API.
    func call(_ settings: Settings) throws -> HTTPCall {
        let call = try self.openCall(settings)
        guard call.apiKey != nil else { throw ValidationError("Give an API key: set MARTLET_API_KEY.") }
        return call
    }

    /// As ``call(_:)``, for what needs no API key.
    func openCall(_ settings: Settings) throws -> HTTPCall {
        let server =
            settings.string("api.server") ?? settings.string("send.server", default: Self.defaultServer)
        let key = settings.secret("api.key") ?? settings.secret("send.apiKey")
        try settings.check()
        guard let url = URLComponents(string: server), ["http", "https"].contains(url.scheme),
            url.host?.isEmpty == false
        else { throw SettingsError("api.server: '\(server)' is no URL such as \(Self.defaultServer)") }
        return HTTPCall(baseURL: server, apiKey: key)
    }

    /// The answer to a request; `null` for one without a body.
    /// - Parameter settings: `nil` for those that are the same for all commands.
    func answer(_ request: APIRequest, with settings: Settings? = nil) async throws -> JSONValue {
        let call: HTTPCall
        if let settings { call = try self.call(settings) } else { call = try self.call(try await self.settings()) }
        return try await Self.answer(request, from: call)
    }

    /// - Throws: ``SettingsError`` for what is wrong with the way there, ``HTTPCall/Refused`` for what is wrong with the
    ///   request.
    static func answer(
        _ request: APIRequest,
        from call: HTTPCall,
        headers: [(String, String)] = []
    ) async throws -> JSONValue {
        let data: Data
        do {
            data = try await call.data(request.method, request.path, headers: headers, body: try request.body?.text)
        } catch let refused as HTTPCall.Refused {
            throw self.explained(refused, call.baseURL)
        }
        guard !data.isEmpty else { return .null }
        do {
            return try JSONValue(parsing: data)
        } catch {
            throw self.noProvider(call.baseURL)
        }
    }

    static func noProvider(_ server: String) -> SettingsError {
        SettingsError("what answers at \(server) is no provider: is the URL right?")
    }

    /// What the API's words leave open for somebody at a terminal.
    static func explained(_ refused: HTTPCall.Refused, _ server: String) -> any Error {
        switch refused.status {
        case 401: SettingsError("the provider at \(server) does not know this API key: check MARTLET_API_KEY")
        case 404 where !refused.isFromAPI:
            SettingsError("\(server) has no such route: is it a Martlet provider of this version, and the URL right?")
        default: refused
        }
    }

    /// Performs a request and prints its answer, as JSON or in words.
    func show(
        _ request: APIRequest,
        with settings: Settings? = nil,
        _ words: (JSONValue) throws -> String
    ) async throws {
        try self.print(try await self.answer(request, with: settings), words)
    }

    /// Prints an answer, as JSON or in words.
    func print(_ answer: JSONValue, _ words: (JSONValue) throws -> String) throws {
        if !self.json {
            StandardOutput.line(try words(answer))
        } else if answer != .null {
            StandardOutput.line(try answer.line)
        }
    }
}
