import Foundation
import GRDB
import PushSupport
import PushTypes

/// The events of a user and of tokens that wait for webhooks. Those of notifications after the request stay.
struct ErasedEvents {
    /// The id of the erasure.
    let erasure: Int64
    let user: String
    let tokens: Set<DeviceToken>

    /// Returns the blocks of an app that have events of the user or of the tokens.
    func blocks(app: Int64, in database: Database) throws -> [Int64] {
        let needles = try ([self.user] + self.tokens.map(\.hex)).map { try JSONValue.string($0).text }
        var found: Set<Int64> = []
        for needle in needles {
            let sql = "SELECT id FROM eventBlock WHERE app = ? AND instr(events, ?) > 0"
            found.formUnion(try database.integers(sql: sql, [app, needle]))
        }
        return found.sorted()
    }

    /// Erases events from a block, and the block with its last event.
    func erase(from block: Int64, in database: Database) throws {
        let sql = "SELECT events FROM eventBlock WHERE id = ?"
        guard let row = try database.row(sql: sql, [block]), let events = row["events"] as Data? else { return }
        let text = Data("[".utf8) + events + Data("]".utf8)
        guard case .array(let all)? = try? JSONValue(parsing: text) else {
            // A damaged block is posted to no webhook.
            return _ = try database.run(sql: "DELETE FROM eventBlock WHERE id = ?", [block])
        }
        let rest = try all.filter { try !self.concerns($0) || self.isLater($0, in: database) }
        guard !rest.isEmpty else { return _ = try database.run(sql: "DELETE FROM eventBlock WHERE id = ?", [block]) }
        let kept = Data(try rest.map { try $0.text }.joined(separator: Data(",".utf8)))
        try database.update("eventBlock", ["events": kept], id: block)
    }

    private func concerns(_ event: JSONValue) -> Bool {
        guard case .object(let members) = event else { return false }
        if members["user"] == .string(self.user) { return true }
        guard case .string(let token)? = members["token"] else { return false }
        return DeviceToken(hex: token).map(self.tokens.contains) ?? false
    }

    /// Returns `true` for an event of a notification that was accepted after the request.
    private func isLater(_ event: JSONValue, in database: Database) throws -> Bool {
        guard let notification = event["notification"].stringValue else { return false }
        let sql = """
            SELECT 1 FROM notification WHERE id = ? AND number > (SELECT lastNotification FROM erasure WHERE id = ?)
            """
        return try database.hasRow(sql: sql, [notification, self.erasure])
    }
}
