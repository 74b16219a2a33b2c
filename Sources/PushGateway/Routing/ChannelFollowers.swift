import Foundation

/// The connected devices that follow each channel.
struct ChannelFollowers: Sendable {
    private var followers: [ChannelName: Set<UUID>] = [:]

    func devices(following channel: ChannelName) -> Set<UUID> { self.followers[channel] ?? [] }

    mutating func add(_ device: UUID, to channel: ChannelName) { self.followers[channel, default: []].insert(device) }

    mutating func remove(_ device: UUID, from channel: ChannelName) {
        self.followers[channel]?.remove(device)
        if self.followers[channel]?.isEmpty == true { self.followers[channel] = nil }
    }

    /// Removes a channel.
    /// - Returns: The devices that followed it.
    mutating func removeAll(following channel: ChannelName) -> Set<UUID> {
        self.followers.removeValue(forKey: channel) ?? []
    }
}
