import ArgumentParser
import Foundation
import PushSender
import PushTypes

/// The push service, the credential and the sender configuration of a command with `--credential`.
struct DirectDestination {
    /// The time limit of a connection to the push service, and of a push that waits for one where no option says it.
    @TaskLocal static var timeout: Duration = .seconds(10)

    /// Host and port of the push service, and the authorities to trust besides the system's.
    let endpoint: PushServiceEndpoint
    let credential: PushCredential
    private(set) var configuration: SenderConfiguration

    /// - Throws: ``CredentialError``, ``SettingsError`` or a validation error that names the option.
    init(_ options: DirectOptions, settings: SettingsReader) throws {
        try self.init(service: options, settings: settings)
        self.configuration.maximumConnections = options.connections
        self.configuration.maximumInFlight = options.inFlight
        self.configuration.waitTimeout = .seconds(options.patience)
    }

    /// - Throws: As ``init(_:settings:)-(DirectOptions,_)``.
    init(_ options: ServiceCredentialOptions, settings: SettingsReader) throws {
        try self.init(service: options, settings: settings)
        self.configuration.waitTimeout = Self.timeout
    }

    private init(service options: some PushServiceOptions, settings: SettingsReader) throws {
        guard let path = options.credential, let service = options.service else {
            throw ValidationError("Give --credential and --service.")
        }
        self.endpoint = try Self.endpoint(service, authority: options.authority)
        self.credential = try InputFile.credential(
            path,
            passphrase: settings.string(CredentialSettings.passphrase),
            teamID: options.teamID,
            keyID: options.keyID,
            keyFile: options.credentialKey
        )
        var configuration = SenderConfiguration()
        configuration.maximumConnections = 1
        configuration.handshakeTimeout = Self.timeout
        configuration.responseTimeout = Self.timeout * 3
        configuration.reconnectMaximum = .seconds(2)
        // Shorter than a graceful shutdown may take.
        configuration.drainTimeout = .seconds(10)
        configuration.proxy = try settings.proxy(SendSettings.proxy)
        self.configuration = configuration
    }

    /// Returns the push service that `--service` names: one of Apple's, or HOST:PORT.
    private static func endpoint(_ service: String, authority: String?) throws -> PushServiceEndpoint {
        guard let address = ServiceAddress(service) else {
            throw ValidationError("--service: '\(service)' is not HOST:PORT.")
        }
        let (name, port) = (address.host, address.port)
        var endpoint: PushServiceEndpoint
        if let environment = PushEnvironment(rawValue: name) {
            endpoint = .apple(environment, port: port ?? 443)
        } else {
            guard let port else { throw ValidationError("--service \(service) needs a port: HOST:PORT.") }
            endpoint = PushServiceEndpoint(host: name, port: port)
        }
        endpoint.connectTimeout = Self.timeout
        endpoint.additionalTrustRoots = try authority.map { try InputFile.authorities($0, for: "--authority") }
        return endpoint
    }
}
