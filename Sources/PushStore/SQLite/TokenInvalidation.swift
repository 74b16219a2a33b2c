import Foundation
import GRDB
import PushTypes

/// Applies what answers say about tokens, and writes down what was done.
struct TokenInvalidation {
    let app: Int64
    let notification: UUID?
    let now: Timestamp
    let database: Database

    func apply(_ finding: TokenStateChange) throws {
        guard
            let device = try SQLiteStore.devices(
                self.database,
                where: "id = ? AND hasLeft = 0",
                arguments: [finding.device.databaseValue]
            ).devices.first
        else { return }
        switch finding.verdict {
        case .good: try self.run("UPDATE device SET suspicions = 0 WHERE id = ?", [device.id])
        case .dead(let since): try self.bury(device, since: since, finding)
        case .suspect:
            try self.run("UPDATE device SET suspicions = suspicions + 1 WHERE id = ?", [device.id])
            try self.record(.suspected, device, finding)
        case .withheld(let since): try self.record(.withheld, device, finding, since: since)
        case .moved(let environment): try self.move(device, to: environment, finding)
        }
    }

    /// Dead, unless it registered at that moment or later (reference 7.7).
    private func bury(_ device: DeviceRecord, since: Timestamp, _ finding: TokenStateChange) throws {
        guard device.isActive else { return }
        guard device.registeredAt < since else { return try self.record(.keptAlive, device, finding) }
        try self.run("UPDATE device SET isActive = 0 WHERE id = ?", [device.id])
        try self.record(.deactivated, device, finding)
    }

    /// If the other environment knows the token already, that device is the one, and this one goes.
    private func move(_ device: DeviceRecord, to environment: PushEnvironment, _ finding: TokenStateChange) throws {
        // It has another token since: nothing is known of that.
        guard finding.token == nil || finding.token == device.token else { return }
        let isKnown =
            try Int64.fetchOne(
                self.database,
                sql: """
                    SELECT id FROM device WHERE app = ?1 AND environment = ?3 AND id != ?4 AND hasLeft = 0 AND (
                        token = ?2 OR installation = (SELECT installation FROM device WHERE id = ?4))
                    """,
                arguments: [self.app, Data(device.token.bytes), environment.code, device.id]
            ) != nil
        if isKnown {
            try self.run("UPDATE device SET isActive = 0 WHERE id = ?", [device.id])
        } else {
            try self.clear(environment, for: device)
            try self.run(
                "UPDATE device SET environment = ?, suspicions = 0, isActive = 1 WHERE id = ?",
                [environment.code, device.id]
            )
        }
        try self.record(.moved, device, finding)
    }

    /// A device that has left does not keep the place in the other environment. What it has had, this one has had too.
    private func clear(_ environment: PushEnvironment, for device: DeviceRecord) throws {
        let left = try Int64.fetchAll(
            self.database,
            sql: """
                SELECT id FROM device WHERE app = ?1 AND environment = ?3 AND hasLeft != 0 AND (
                    token = ?2 OR installation = (SELECT installation FROM device WHERE id = ?4))
                """,
            arguments: [self.app, Data(device.token.bytes), environment.code, device.id]
        )
        let churn = RegistrationChanges(app: self.app, database: self.database)
        for id in left { try churn.merge(id, into: device.id) }
    }

    private func run(_ sql: String, _ arguments: [Int64]) throws {
        try self.database.cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
    }

    private func record(
        _ action: TokenEventRecord.Action,
        _ device: DeviceRecord,
        _ finding: TokenStateChange,
        since: Timestamp? = nil
    ) throws {
        try TokenEventWriter.add(
            action,
            app: self.app,
            device: device.id,
            token: device.token,
            environment: device.environment,
            reason: finding.reason,
            notification: self.notification,
            since: since,
            at: self.now,
            in: self.database
        )
    }
}
