import Foundation

/// The sessions of the connected devices, one for each.
///
/// They lie in an array, where one part of a session can be read or changed without copying all of it, as a dictionary's
/// values would be.
struct SessionTable: Sendable {
    private var places: [UUID: Int] = [:]
    private var sessions: [DeviceSession] = []

    var count: Int { self.sessions.count }
    var indices: Range<Int> { self.sessions.indices }
    var devices: [UUID] { self.sessions.map(\.device) }
    var unacknowledged: Int { self.sessions.reduce(0) { $0 + $1.unacknowledged.count } }

    /// Where the session of a device is; good until any session is removed.
    func index(of device: UUID) -> Int? { self.places[device] }

    subscript(index: Int) -> DeviceSession {
        _read { yield self.sessions[index] }
        _modify { yield &self.sessions[index] }
    }

    func session(of device: UUID) -> DeviceSession? { self.places[device].map { self.sessions[$0] } }

    /// Adds a session, or puts it in the place of the device's earlier one.
    mutating func put(_ session: DeviceSession) {
        if let index = self.places[session.device] {
            self.sessions[index] = session
        } else {
            self.places[session.device] = self.sessions.count
            self.sessions.append(session)
        }
    }

    /// The last session takes the free place.
    mutating func remove(_ device: UUID) {
        guard let index = self.places.removeValue(forKey: device), let last = self.sessions.popLast() else { return }
        if last.device != device {
            self.sessions[index] = last
            self.places[last.device] = index
        }
        // What a storm of devices took is given back when all have left.
        if self.sessions.isEmpty { self = SessionTable() }
    }
}
