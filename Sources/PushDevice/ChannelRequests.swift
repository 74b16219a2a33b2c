import PushWire
import Synchronization

/// Tracks the broadcast channels that a device follows, and the callers that wait for the push service to confirm one.
final class ChannelRequests: Sendable {
    struct Channel: Hashable, Sendable {
        var topic: TopicHash
        var id: String

        func packet(follows: Bool) -> DeviceLinkPacket {
            DeviceLinkChannelRequest(topic: self.topic, channel: self.id, follows: follows).packet
        }
    }

    private struct State {
        /// The followed channels. They are requested again on each connection, although the service stores them too.
        var channels: Set<Channel> = []
        /// The closure that writes a packet to the connection, or `nil` while there is no connection.
        var write: (@Sendable (DeviceLinkPacket) -> Void)?
    }

    private let state = Mutex(State())
    private let waiters = ResponseWaiters<Channel, Void>()

    /// Sets the closure that writes to the connection, and requests all followed channels with it. The session passes
    /// `nil` when it ends.
    func attach(_ write: (@Sendable (DeviceLinkPacket) -> Void)?) {
        let channels = self.state.withLock { state in
            state.write = write
            return state.channels
        }
        guard let write else { return }
        for channel in channels { write(channel.packet(follows: true)) }
    }

    /// Follows a channel and returns when the service has confirmed it.
    /// - Throws: ``DeviceError`` if the service rejects the channel or does not respond within `timeout`.
    ///   `CancellationError` if the task is cancelled or ``end()`` is called.
    func follow(_ channel: Channel, timeout: Duration) async throws {
        let isNew = self.state.withLock { !$0.channels.contains(channel) }
        do {
            try await self.waiters.response(to: channel, timeout: timeout, timeoutError: .channelTimeout(channel.id)) {
                self.send(channel.packet(follows: true)) { $0.insert(channel) }
            }
        } catch {
            // Without a confirmation the channel must not be followed on the next connection. The confirmation may have
            // arrived just now, unless the service has rejected the channel, which removes it here.
            if isNew, self.state.withLock({ $0.channels.contains(channel) }) { self.unfollow(channel) }
            throw error
        }
    }

    func unfollow(_ channel: Channel) { self.send(channel.packet(follows: false)) { $0.remove(channel) } }

    private func send(_ packet: DeviceLinkPacket, _ change: (inout Set<Channel>) -> Void) {
        let write = self.state.withLock { state in
            change(&state.channels)
            return state.write
        }
        write?(packet)
    }

    /// Passes the response to every caller that waits for its channel. A channel that the service rejects is no longer
    /// followed.
    func receive(_ response: DeviceLinkChannelResponse) {
        let channel = Channel(topic: response.topic, id: response.channel)
        if response.status != .ok { _ = self.state.withLock { $0.channels.remove(channel) } }
        switch response.status {
        case .ok: self.waiters.resume(channel, with: .success(()))
        case .tooMany: self.waiters.resume(channel, with: .failure(.tooManyChannels))
        case .unknownChannel: self.waiters.resume(channel, with: .failure(.unknownChannel(channel.id)))
        }
    }

    /// Ends all waits with `CancellationError`, because no more responses will arrive.
    func end() { self.waiters.end() }
}
