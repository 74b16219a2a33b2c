import ArgumentParser
import Foundation
import PushSender
import PushSupport
import PushTypes

/// Where `martlet send --credential` sends to, and how it gets there.
struct DirectTarget {
    let endpoint: PushServiceEndpoint
    let credential: PushCredential
    let configuration: SenderConfiguration

    /// - Throws: ``CredentialError``, ``SettingsError`` or a validation error that names the option.
    init(_ options: DirectOptions, settings: Settings) throws {
        guard let path = options.credential, let service = options.service else {
            throw ValidationError("Give --credential and --service.")
        }
        self.endpoint = try Self.endpoint(service, authority: options.authority)
        self.credential = try PushCredential.load(
            file: path,
            passphrase: settings.secret("send.passphrase"),
            teamID: options.teamID,
            keyID: options.keyID,
            keyFile: options.credentialKey
        )
        var configuration = SenderConfiguration()
        configuration.maximumConnections = options.connections
        configuration.maximumInFlight = options.inFlight
        configuration.waitTimeout = .seconds(options.patience)
        configuration.reconnectMaximum = .seconds(2)
        // Shorter than an orderly end may take.
        configuration.drainTimeout = .seconds(10)
        configuration.proxy = try settings.secret("send.proxy").map(Self.proxy)
        self.configuration = configuration
    }

    private static func endpoint(_ service: String, authority: String?) throws -> PushServiceEndpoint {
        guard let address = ServiceAddress(service) else {
            throw ValidationError("--service: '\(service)' is no HOST:PORT.")
        }
        let (name, port) = (address.host, address.port)
        var endpoint: PushServiceEndpoint
        if let environment = PushEnvironment(rawValue: name) {
            endpoint = .apple(environment, port: port ?? 443)
        } else {
            guard let port else { throw ValidationError("--service \(service) needs a port: HOST:PORT.") }
            endpoint = PushServiceEndpoint(host: name, port: port)
        }
        if let authority {
            do {
                endpoint.additionalTrustRoots = try String(contentsOfFile: authority, encoding: .utf8)
            } catch {
                throw SettingsError("--authority: \(authority) cannot be read: \(ErrorDescription.of(error))")
            }
        }
        return endpoint
    }

    private static func proxy(_ text: String) throws -> ProxyEndpoint {
        guard let url = URLComponents(string: text), url.scheme == "http", let host = url.host, !host.isEmpty else {
            throw ValidationError("--proxy is http://[USER:PASSWORD@]HOST:PORT.")
        }
        return ProxyEndpoint(host: host, port: url.port ?? 3128, user: url.user, password: url.password)
    }
}
