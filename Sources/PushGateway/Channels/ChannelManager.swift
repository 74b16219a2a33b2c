import Logging
import PushSupport
import PushTypes
import PushWire

/// Creates and deletes channels. Each response is sent once the change is on disk.
struct ChannelManager: Sendable {
    let channels: ChannelRegistry
    let time: any TimeSource
    let logger: Logger
    /// The closure that removes the followers and the stored broadcast of a deleted channel.
    var channelDeleted: @Sendable (ChannelName) -> Void = { _ in }

    func perform(_ command: ChannelChange) async -> ProviderResponse {
        do {
            switch command.action {
            case .create(let policy): return try await self.create(policy, command)
            case .delete(let id): return try await self.delete(id, command)
            }
        } catch {
            self.logger.error(
                "channel could not be changed",
                metadata: ["apns-request-id": "\(command.requestID)", "error": "\(error)"]
            )
            return .rejected(.internalServerError, requestID: command.requestID)
        }
    }

    private func create(_ policy: ChannelPolicy, _ command: ChannelChange) async throws -> ProviderResponse {
        let id = try await self.channels.create(
            policy,
            app: command.bundleID,
            in: command.environment,
            now: self.time.now
        )
        guard let id else { return .rejected(.cannotCreateChannelConfig, requestID: command.requestID) }
        return ProviderResponse(status: 201, requestID: command.requestID, channelID: id)
    }

    /// Deletes a channel. Of two concurrent requests to delete one channel, the later one is rejected because the
    /// channel no longer exists.
    private func delete(_ id: String, _ command: ChannelChange) async throws -> ProviderResponse {
        guard try await self.channels.delete(id, app: command.bundleID, in: command.environment) else {
            return .rejected(.channelNotRegistered, requestID: command.requestID)
        }
        self.channelDeleted(ChannelName(bundleID: command.bundleID, id: id))
        return ProviderResponse(status: 204, requestID: command.requestID)
    }
}

struct ChannelChange: Hashable, Sendable {
    enum Action: Hashable, Sendable {
        case create(ChannelPolicy)
        case delete(String)
    }

    var action: Action
    var bundleID: Topic
    var environment: PushEnvironment
    var requestID: String
}
