package import Foundation
import GRDB
import PushSupport
package import PushTypes

extension SQLiteStore {
    package func addChatSession(
        _ session: ChatSessionRecord,
        perUser: Int,
        perApp: Int
    ) async throws -> ChatSessionAddition {
        let sealed = try self.masterKey.seal(session.password, for: .chatSession(session.id, app: session.app))
        return try await self.database.write { database in
            let ofApp = "SELECT count(*) FROM chatSession WHERE app = ?"
            guard try database.count(sql: ofApp, [session.app]) < perApp else { return .tooManyOfApp }
            let ofUser = "\(ofApp) AND user = ?"
            guard try database.count(sql: ofUser, [session.app, session.user]) < perUser else { return .tooManyOfUser }
            var session = session
            session.number = try database.insert(
                into: "chatSession",
                [
                    "id": session.id.uuidString, "app": session.app, "user": session.user,
                    "protocol": session.chatProtocol.rawValue, "host": session.host, "port": session.port,
                    "account": session.account, "sealed": sealed,
                    "settings": String(decoding: try session.settings.text, as: UTF8.self),
                    "state": session.state.rawValue, "lastError": session.lastError,
                    "seenThrough": session.seenThrough.milliseconds, "revision": session.revision.uuidString,
                    "createdAt": session.createdAt.milliseconds, "changedAt": session.changedAt.milliseconds,
                ]
            )
            return .added(session)
        }
    }

    package func chatSessions(
        app: Int64,
        user: String?,
        after: Int64,
        limit: Int
    ) async throws -> [ChatSessionRecord] {
        try await self.database.lookup { database in
            let rows =
                if let user {
                    try database.rows(
                        sql:
                            "SELECT * FROM chatSession WHERE app = ? AND user = ? AND number > ? ORDER BY number LIMIT ?",
                        [app, user, after, limit]
                    )
                } else {
                    try database.rows(
                        sql: "SELECT * FROM chatSession WHERE number > ?2 AND app = ?1 ORDER BY number LIMIT ?3",
                        [app, after, limit]
                    )
                }
            return try rows.compactMap { row in try row.readable { try Self.chatSession($0, nil) } }
        }
    }

    package func chatSession(_ id: UUID) async throws -> ChatSessionRecord? {
        let masterKey = self.masterKey
        return try await self.database.lookup { database in
            try database.row(sql: "SELECT * FROM chatSession WHERE id = ?", [id.uuidString])
                .map { try Self.chatSession($0, masterKey) }
        }
    }

    package func activeChatSessions() async throws -> [ChatSessionKey] {
        try await self.database.read { database in
            try database.rows(sql: "SELECT id, revision FROM chatSession WHERE state = 'active' ORDER BY number")
                .compactMap { row in
                    guard let id = row.uuid("id"), let revision = row.uuid("revision") else { return nil }
                    return ChatSessionKey(id: id, revision: revision)
                }
        }
    }

    package func setChatSessionState(
        _ state: ChatSessionRecord.State,
        of id: UUID,
        app: Int64,
        password: String?,
        now: Timestamp
    ) async throws -> ChatSessionRecord? {
        let sealed = try password.map { try self.masterKey.seal($0, for: .chatSession(id, app: app)) }
        return try await self.database.write { database in
            let sql = """
                UPDATE chatSession SET state = ?, sealed = ifnull(?, sealed), revision = ?, changedAt = ?,
                    lastError = CASE WHEN ?1 = 'active' THEN NULL ELSE lastError END
                WHERE id = ? AND app = ?
                """
            let arguments: StatementArguments = [
                state.rawValue, sealed, UUID().uuidString, now.milliseconds, id.uuidString, app,
            ]
            guard try database.run(sql: sql, arguments) == 1 else { return nil }
            return try database.row(sql: "SELECT * FROM chatSession WHERE id = ?", [id.uuidString])
                .map { try Self.chatSession($0, nil) }
        }
    }

    package func removeChatSession(_ id: UUID, app: Int64) async throws -> Bool {
        try await self.database.run(sql: "DELETE FROM chatSession WHERE id = ? AND app = ?", [id.uuidString, app]) > 0
    }

    package func noteChatSessions(_ progress: [ChatSessionKey: ChatSessionProgress]) async throws {
        guard !progress.isEmpty else { return }
        try await self.database.write { database in
            let sql = """
                UPDATE chatSession SET state = ?, lastError = ?, seenThrough = max(seenThrough, ?),
                    usesSCRAM = max(usesSCRAM, ?)
                WHERE id = ? AND revision = ? AND state = 'active'
                """
            for (key, progress) in progress {
                let state: ChatSessionRecord.State = progress.hasFailed ? .failed : .active
                try database.run(
                    sql: sql,
                    [
                        state.rawValue, progress.lastError, progress.seenThrough.milliseconds, progress.usesSCRAM,
                        key.id.uuidString, key.revision.uuidString,
                    ]
                )
            }
        }
    }

    /// Reads a session's row.
    /// - Parameter masterKey: The key that opens the password; `nil` leaves the password out.
    /// - Throws: ``DamagedRow``.
    static func chatSession(_ row: Row, _ masterKey: MasterKey?) throws -> ChatSessionRecord {
        guard let id = row.uuid("id"), let app = row["app"] as Int64?, let user = row["user"] as String?,
            let chatProtocol = row.value("protocol") as ChatProtocol?, let host = row["host"] as String?,
            let port = row["port"] as Int?, let account = row["account"] as String?,
            let sealed = row["sealed"] as Data?, let text = row["settings"] as String?,
            let settings = try? JSONValue(parsing: Data(text.utf8)),
            let state = row.value("state") as ChatSessionRecord.State?, let seenThrough = row.time("seenThrough"),
            let revision = row.uuid("revision"), let createdAt = row.time("createdAt"),
            let changedAt = row.time("changedAt"),
            let password = masterKey.map({ try? $0.open(sealed, for: .chatSession(id, app: app)) }) ?? ""
        else { throw DamagedRow(table: "chatSession") }
        var session = ChatSessionRecord(
            id: id,
            app: app,
            user: user,
            chatProtocol: chatProtocol,
            host: host,
            port: port,
            account: account,
            password: password,
            settings: settings,
            revision: revision,
            createdAt: createdAt
        )
        session.number = row["number"] ?? 0
        (session.state, session.lastError) = (state, row["lastError"])
        (session.seenThrough, session.changedAt) = (seenThrough, changedAt)
        session.usesSCRAM = row["usesSCRAM"] ?? false
        return session
    }
}
