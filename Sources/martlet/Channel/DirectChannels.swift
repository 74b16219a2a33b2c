import Logging
import PushSender
import PushTypes

/// The channels of an app at a push service, without a provider.
struct DirectChannels {
    private let service: ChannelService
    private let bundleID: Topic

    /// - Throws: As ``DirectDestination``.
    init(_ options: ServiceCredentialOptions, _ access: AppOptions) async throws {
        let settings = try await access.settings([options.proxy, options.passphrase])
        let destination = try DirectDestination(options, settings: settings)
        let log = LogConfiguration(settings, defaultLevel: .warning)
        try settings.check()
        self.bundleID = try ServiceCredentialOptions.bundleID(settings, destination.credential)
        self.service = try ChannelService(
            to: destination.endpoint.forChannels,
            credential: destination.credential,
            configuration: destination.configuration,
            logger: log.logger("channels")
        )
    }

    func create(_ storage: ChannelStorage) async throws -> ChannelID {
        try await self.perform { try await $0.createChannel(storing: storage, for: $1) }
    }

    func list() async throws -> [ChannelID] { try await self.perform { try await $0.channels(of: $1) } }

    func delete(_ channel: ChannelID) async throws {
        try await self.perform { try await $0.deleteChannel(channel, of: $1) }
    }

    /// Makes one call, and closes the connection.
    private func perform<Value: Sendable>(
        _ call: (ChannelService, Topic) async throws -> Value
    ) async throws -> Value {
        let result: Result<Value, any Error>
        do {
            result = .success(try await call(self.service, self.bundleID))
        } catch {
            result = .failure(error)
        }
        await self.service.close()
        do {
            return try result.get()
        } catch let error as ChannelServiceError {
            throw SettingsError(error.explanation, status: error.exitStatus)
        }
    }
}

extension ChannelServiceError {
    /// The error in a sentence.
    fileprivate var explanation: String {
        switch self {
        case .rejected: "the push service says \(self)"
        case .notSent: "nothing was sent: \(self)"
        case .unknown: "the response was lost, 'martlet channel list' tells what is there: \(self)"
        case .malformed: "\(self)"
        }
    }

    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .rejected, .malformed: .failed
        case .notSent, .unknown: .unavailable
        }
    }
}
