import Foundation

/// The current session of each connected device.
///
/// The sessions are elements of an array, in which a property can be read or changed without copying a session. The
/// values of a dictionary would be copied.
struct SessionTable: Sendable {
    private var indexes: [UUID: Int] = [:]
    private var sessions: [DeviceSession] = []

    var count: Int { self.sessions.count }
    var indices: Range<Int> { self.sessions.indices }
    var devices: [UUID] { self.sessions.map(\.device) }
    var unacknowledged: Int { self.sessions.reduce(0) { $0 + $1.unacknowledged.count } }

    /// Returns the index of a device's session, which is valid until any session is removed, or `nil` if the device has
    /// none.
    func index(of device: UUID) -> Int? { self.indexes[device] }

    subscript(index: Int) -> DeviceSession {
        _read { yield self.sessions[index] }
        _modify { yield &self.sessions[index] }
    }

    func session(of device: UUID) -> DeviceSession? { self.indexes[device].map { self.sessions[$0] } }

    mutating func put(_ session: DeviceSession) {
        if let index = self.indexes[session.device] {
            self.sessions[index] = session
        } else {
            self.indexes[session.device] = self.sessions.count
            self.sessions.append(session)
        }
    }

    /// Removes a session. The last session in the array takes its index.
    mutating func remove(_ device: UUID) {
        guard let index = self.indexes.removeValue(forKey: device), let last = self.sessions.popLast() else { return }
        if last.device != device {
            self.sessions[index] = last
            self.indexes[last.device] = index
        }
        // The memory of many devices is released when all have left.
        if self.sessions.isEmpty { self = SessionTable() }
    }
}

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

/// Counts acknowledgement windows: the intervals in which devices may acknowledge messages before these are stored.
///
/// A device to which a message was sent in one window is checked when the next window has passed, so that a push waits
/// for its device for one to two windows.
struct AcknowledgementWindows: Sendable {
    private(set) var current = 0
    /// The devices to which a message was sent in the current window.
    private var recent: [UUID] = []
    /// The devices to which a message was sent in the previous window.
    private var waiting: [UUID] = []

    var isEmpty: Bool { self.recent.isEmpty && self.waiting.isEmpty }

    /// Adds a device to the current window, unless it was added already.
    /// - Parameter last: The last window to which the device was added, which is updated, or `nil` if there is none.
    mutating func add(_ device: UUID, last: inout Int?) {
        guard last != self.current else { return }
        last = self.current
        self.recent.append(device)
    }

    /// Begins the next window.
    /// - Returns: The devices to check for unacknowledged messages.
    mutating func advance() -> [UUID] {
        defer {
            self.waiting = self.recent
            self.recent = []
            self.current += 1
        }
        return self.waiting
    }
}
