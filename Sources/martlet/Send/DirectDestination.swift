import ArgumentParser
import PushSender
import PushTypes

/// The push service, the credential and the sender configuration of a command with `--credential`.
struct DirectDestination {
    /// The timeout for connecting to the push service, and by default that of a request that waits for a connection.
    @TaskLocal static var timeout: Duration = .seconds(10)

    /// The host and the port of the push service, and the CAs to trust in addition to the system's.
    let endpoint: PushServiceEndpoint
    let credential: PushCredential
    private(set) var configuration: SenderConfiguration

    /// Reads the options for sending pushes.
    /// - Throws: ``CredentialError``, ``SettingsError`` or a validation error that names the option.
    init(_ options: DirectOptions, settings: SettingsReader) throws {
        try self.init(service: options, settings: settings)
        self.configuration.maximumConnections = options.connections
        self.configuration.maximumInFlight = options.inFlight
        self.configuration.waitTimeout = .seconds(options.patience)
    }

    /// Reads the options of a request about channels.
    /// - Throws: The same errors as ``init(_:settings:)-(DirectOptions,_)``.
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
        // This is shorter than the longest graceful shutdown.
        configuration.drainTimeout = .seconds(10)
        configuration.proxy = try settings.proxy(SendSettings.proxy)
        self.configuration = configuration
    }

    /// Returns the push service that `--service` specifies: one of Apple's, or the one at HOST:PORT.
    /// - Parameter authority: The path of a PEM file with CAs to trust in addition to the system's, or `nil` for none.
    /// - Throws: A validation error for another value.
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

/// The options that specify a push service and a credential for it.
private protocol PushServiceOptions {
    var credential: String? { get }
    var credentialKey: String? { get }
    var teamID: String? { get }
    var keyID: String? { get }
    var service: String? { get }
    var authority: String? { get }
}

extension DirectOptions: PushServiceOptions {}

/// The options for requests to a push service about channels, without a provider.
struct ServiceCredentialOptions: ParsableArguments, PushServiceOptions {
    @Option(help: "A .p8 key, a .p12 archive or a PEM file, to ask the push service without a provider.")
    var credential: String?
    @Option(help: "The private key of a PEM certificate, if it is in another file.") var credentialKey: String?
    @Option(help: "Team id, for a .p8 key.") var teamID: String?
    @Option(help: "Key id, for a .p8 key; default: from the file name AuthKey_<key id>.p8.") var keyID: String?
    @Option(help: "production or sandbox for Apple's services, else HOST:PORT.") var service: String?
    @Option(help: "PEM file with an authority to trust besides the system's, such as a gateway's.")
    var authority: String?
    @OptionGroup var passphrase: SettingFlags<CredentialSettings>
    @OptionGroup var proxy: SettingFlags<SendSettings>

    /// A Boolean value that indicates whether the request is sent to the push service, without a provider.
    var isGiven: Bool { self.credential != nil }

    func validate() throws {
        if self.isGiven {
            guard self.service != nil else {
                throw ValidationError("Give --service: production, sandbox or HOST:PORT.")
            }
            return
        }
        let given = [self.credentialKey, self.teamID, self.keyID, self.service, self.authority]
        guard given.allSatisfy({ $0 == nil }), self.passphrase.values.isEmpty, self.proxy.values.isEmpty else {
            throw ValidationError("Asking a push service without a provider needs --credential.")
        }
    }

    /// Returns the bundle id from the settings, or else the topic of the certificate.
    /// - Throws: A validation error if there is neither.
    static func bundleID(_ settings: SettingsReader, _ credential: PushCredential) throws -> Topic {
        if let text = settings.string(AppSettings.app) {
            guard let topic = Topic(text) else { throw ValidationError("'\(text)' is not a bundle id.") }
            return topic
        }
        if case .certificate(let certificate) = credential, let topic = certificate.defaultTopic {
            return topic.bundleID
        }
        throw ValidationError("Give --app with the bundle id.")
    }
}
