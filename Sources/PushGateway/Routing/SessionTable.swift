import Foundation

/// The sessions of the connected devices, one for each.
///
/// They are elements of an array, where one property of a session can be read or changed without a copy of the session,
/// which a dictionary's values would need.
struct SessionTable: Sendable {
    private var indexes: [UUID: Int] = [:]
    private var sessions: [DeviceSession] = []

    var count: Int { self.sessions.count }
    var indices: Range<Int> { self.sessions.indices }
    var devices: [UUID] { self.sessions.map(\.device) }
    var unacknowledged: Int { self.sessions.reduce(0) { $0 + $1.unacknowledged.count } }

    /// Returns the index of a device's session; valid until any session is removed.
    func index(of device: UUID) -> Int? { self.indexes[device] }

    subscript(index: Int) -> DeviceSession {
        _read { yield self.sessions[index] }
        _modify { yield &self.sessions[index] }
    }

    func session(of device: UUID) -> DeviceSession? { self.indexes[device].map { self.sessions[$0] } }

    /// Adds a session, or replaces the device's earlier one.
    mutating func put(_ session: DeviceSession) {
        if let index = self.indexes[session.device] {
            self.sessions[index] = session
        } else {
            self.indexes[session.device] = self.sessions.count
            self.sessions.append(session)
        }
    }

    /// Removes a session. The last one takes its index.
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
