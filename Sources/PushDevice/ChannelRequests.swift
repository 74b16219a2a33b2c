import PushWire
import Synchronization

/// The broadcast channels that a device follows, and the callers who wait to hear that it does.
final class ChannelRequests: Sendable {
    /// A channel as the courier link names it.
    struct Channel: Hashable, Sendable {
        var topic: TopicHash
        var id: String

        func packet(follows: Bool) -> DeviceLinkPacket {
            DeviceLinkChannelRequest(topic: self.topic, channel: self.id, follows: follows).packet
        }
    }

    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State {
        /// Asked for again on every connection; the service remembers them too.
        var channels: Set<Channel> = []
        var waiters: [Channel: [UInt64: Waiter]] = [:]
        var nextWaiter: UInt64 = 0
        /// Writes to the connection; `nil` while there is none.
        var write: (@Sendable (DeviceLinkPacket) -> Void)?
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// There is a connection: asks for all channels. `nil`: there is none any more.
    func attach(_ write: (@Sendable (DeviceLinkPacket) -> Void)?) {
        let channels = self.state.withLock { state in
            state.write = write
            return state.channels
        }
        guard let write else { return }
        for channel in channels { write(channel.packet(follows: true)) }
    }

    /// Returns when the service has agreed.
    func follow(_ channel: Channel, timeout: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.wait(for: channel) }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw DeviceError.channelTimeout(channel.id)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    func unfollow(_ channel: Channel) {
        let write = self.state.withLock { state in
            state.channels.remove(channel)
            return state.write
        }
        write?(channel.packet(follows: false))
    }

    func answered(_ response: DeviceLinkChannelResponse) {
        let channel = Channel(topic: response.topic, id: response.channel)
        let waiters = self.state.withLock { state in
            if response.status != .ok { state.channels.remove(channel) }
            return state.waiters.removeValue(forKey: channel) ?? [:]
        }
        for waiter in waiters.values {
            switch response.status {
            case .ok: waiter.resume()
            case .tooMany: waiter.resume(throwing: DeviceError.tooManyChannels)
            case .unknownChannel: waiter.resume(throwing: DeviceError.unknownChannel(channel.id))
            }
        }
    }

    /// No answer will come any more.
    func end() {
        let waiters = self.state.withLock { state in
            state.hasEnded = true
            defer { state.waiters = [:] }
            return state.waiters.values.flatMap(\.values)
        }
        for waiter in waiters { waiter.resume(throwing: CancellationError()) }
    }

    private func wait(for channel: Channel) async throws {
        let id = self.state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in self.enter(waiter, id: id, channel) }
        } onCancel: {
            let waiter = self.state.withLock { $0.waiters[channel]?.removeValue(forKey: id) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private func enter(_ waiter: Waiter, id: UInt64, _ channel: Channel) {
        let hasEntered = self.state.withLock { state in
            guard !state.hasEnded, !Task.isCancelled else { return false }
            state.channels.insert(channel)
            state.waiters[channel, default: [:]][id] = waiter
            return true
        }
        guard hasEntered else { return waiter.resume(throwing: CancellationError()) }
        self.state.withLock { $0.write }?(channel.packet(follows: true))
    }
}
