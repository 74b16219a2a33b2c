import Foundation
import GRDB
import PushProtocol

/// Writes what was done to tokens.
enum TokenEvents {
    static func add(
        _ action: TokenEventRecord.Action,
        app: Int64,
        device: Int64,
        token: DeviceToken,
        environment: PushEnvironment,
        reason: String? = nil,
        notification: UUID? = nil,
        since: Timestamp? = nil,
        at: Timestamp,
        in database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO tokenEvent (app, device, token, environment, action, reason, notification, since, at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        )
        try statement.execute(arguments: [
            app, device, Data(token.bytes), environment.code, action.rawValue, reason, notification?.uuidString,
            since?.milliseconds, at.milliseconds,
        ])
    }
}
