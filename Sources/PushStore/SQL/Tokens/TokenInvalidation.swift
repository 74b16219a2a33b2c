import Foundation
import ProviderModel
import PushTypes

/// Applies changes of token states to the tokens' devices, and records them.
///
/// A device is deactivated after the push service has responded with status 410. The provider's
/// `TokenInvalidationPolicy` has decided on it before.
struct TokenInvalidation {
    let events: TokenEventWriter
    let notification: UUID?

    private var database: any SQLConnection { self.events.database }

    /// Applies a change, unless the device was removed, cannot be decoded, or has got another token since.
    func apply(_ change: TokenStateChange) throws {
        try self.database.lock(.exclusive, "device", where: "id = ?", [change.device])
        guard
            let device = try DeviceRows(database: self.database)
                .devices(where: "id = ? AND hasLeft = 0", [change.device.sqlValue]).first,
            change.token == nil || change.token == device.token
        else { return }
        switch change.kind {
        case .confirmed: try self.database.run(sql: "UPDATE device SET suspicions = 0 WHERE id = ?", [device.id])
        case .deactivated(let since): try self.deactivate(device, since: since, change)
        case .suspected:
            try self.database.run(sql: "UPDATE device SET suspicions = suspicions + 1 WHERE id = ?", [device.id])
            try self.record(.suspected, device, change)
        case .withheld(let since): try self.record(.withheld, device, change, since: since)
        case .moved(let environment): try self.move(device, to: environment, change)
        }
    }

    /// Deactivates a device, unless it has registered again at the time `since` or later (APNs reference 7.7).
    private func deactivate(_ device: DeviceRecord, since: Timestamp, _ change: TokenStateChange) throws {
        guard device.isActive else { return }
        guard device.registeredAt < since else { return try self.record(.keptAlive, device, change) }
        try self.database.run(sql: "UPDATE device SET isActive = 0 WHERE id = ?", [device.id])
        try self.record(.deactivated, device, change)
    }

    /// Moves a device to the other environment. If its place there is taken, the device is deactivated.
    private func move(_ device: DeviceRecord, to environment: PushEnvironment, _ change: TokenStateChange) throws {
        if try self.devices(like: device, in: environment, haveLeft: false).contains(where: { $0 != device.id }) {
            try self.database.run(sql: "UPDATE device SET isActive = 0 WHERE id = ?", [device.id])
        } else {
            // A removed device does not prevent the move. Notifications sent to it then count as sent to this one.
            let changes = RegistrationChanges(app: self.events.app, database: self.database)
            for left in try self.devices(like: device, in: environment, haveLeft: true) {
                try changes.merge(left, into: device.id)
            }
            let sql = "UPDATE device SET environment = ?, suspicions = 0, isActive = 1 WHERE id = ?"
            try self.database.run(sql: sql, [environment.code, device.id])
        }
        try self.record(.moved, device, change)
    }

    /// Returns the ids of the devices in an environment that have the token of a device, or its installation, kind and
    /// activity: only removed ones if `haveLeft` is `true`, and only registered ones otherwise.
    private func devices(like device: DeviceRecord, in environment: PushEnvironment, haveLeft: Bool) throws -> [Int64] {
        let sql = """
            SELECT id FROM device WHERE app = ?1 AND environment = ?3 AND hasLeft \(haveLeft ? "!= 0" : "= 0") AND (
                token = ?2
                OR installation = (SELECT installation FROM device WHERE id = ?4)
                    AND kind = (SELECT kind FROM device WHERE id = ?4)
                    AND activity = (SELECT activity FROM device WHERE id = ?4))
            """
        let (app, token, code) = (self.events.app, Data(device.token.bytes), environment.code)
        return try self.database.integers(sql: sql, [app, token, code, device.id])
    }

    private func record(
        _ action: TokenEventRecord.Action,
        _ device: DeviceRecord,
        _ change: TokenStateChange,
        since: Timestamp? = nil
    ) throws {
        try self.events.add(
            action,
            device: device.id,
            token: device.token,
            environment: device.environment,
            reason: change.reason,
            notification: self.notification,
            since: since
        )
    }
}
