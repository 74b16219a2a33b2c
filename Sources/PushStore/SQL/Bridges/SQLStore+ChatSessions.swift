package import Foundation
package import ProviderModel
import PushSupport
package import PushTypes

extension SQLStore {
    package func addChatSession(
        _ session: ChatSessionRecord,
        perUser: Int,
        perApp: Int
    ) async throws -> ChatSessionAdditionResult {
        let sealed = try self.masterKey.seal(session.password, for: .chatSession(session.id, app: session.app))
        return try await self.database.write { database in
            let ofApp = "SELECT count(*) FROM chatSession WHERE app = ?"
            guard try database.count(sql: ofApp, [session.app]) < perApp else { return .tooManyOfApp }
            let ofUser = "\(ofApp) AND user = ?"
            guard try database.count(sql: ofUser, [session.app, session.user]) < perUser else { return .tooManyOfUser }
            var session = session
            session.number = try database.insert(
                into: "chatSession",
                of: .app,
                [
                    "id": session.id.uuidString, "app": session.app, "user": session.user,
                    "protocol": session.chatProtocol.rawValue, "host": session.host, "port": session.port,
                    "account": session.account, "sealed": sealed,
                    "settings": String(decoding: try session.settings.text, as: UTF8.self),
                    "state": session.state.rawValue, "lastError": session.lastError,
                    "seenThrough": session.seenThrough.milliseconds, "revision": session.revision.uuidString,
                    "createdAt": session.createdAt.milliseconds, "changedAt": session.changedAt.milliseconds,
                ],
                returning: "number"
            )
            return .added(session)
        }
    }

    package func chatSessions(app: Int64, user: String?, after: Int64, limit: Int) async throws -> [ChatSessionRecord] {
        var condition = "number > :after AND app = :app"
        var arguments: SQLArguments = ["app": app, "after": after, "limit": limit]
        if let user {
            condition += " AND user = :user"
            arguments += ["user": user]
        }
        let sql = "SELECT * FROM chatSession WHERE \(condition) ORDER BY number LIMIT :limit"
        return try await self.database.lookup { [arguments] in try $0.records(sql: sql, arguments) }
    }

    package func chatSession(_ id: UUID) async throws -> ChatSessionRecord? {
        let masterKey = self.masterKey
        return try await self.database.lookup { try ChatSessionRecord.find(id, masterKey, in: $0) }
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
                UPDATE chatSession SET state = ?, sealed = coalesce(?, sealed), revision = ?, changedAt = ?,
                    lastError = CASE WHEN ?1 = 'active' THEN NULL ELSE lastError END
                WHERE id = ? AND app = ?
                """
            let arguments: SQLArguments = [
                state.rawValue, sealed, UUID().uuidString, now.milliseconds, id.uuidString, app,
            ]
            guard try database.run(sql: sql, arguments) == 1 else { return nil }
            return try ChatSessionRecord.find(id, in: database)
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
}

extension ChatSessionRecord: StoredRecord {
    static let table = "chatSession"

    init(_ row: StoredRow) throws {
        let (id, app): (UUID, Int64) = (try row.get("id"), try row.get("app"))
        let settings: String = try row.get("settings")
        self.init(
            id: id,
            app: app,
            user: try row.get("user"),
            chatProtocol: try row.get(raw: "protocol"),
            host: try row.get("host"),
            port: try row.get("port"),
            account: try row.get("account"),
            password: try row.open("sealed", for: .chatSession(id, app: app)) ?? "",
            settings: try row.need(try? JSONValue(parsing: Data(settings.utf8))),
            revision: try row.get("revision"),
            createdAt: try row.get("createdAt")
        )
        (self.number, self.usesSCRAM) = (row["number"] ?? 0, row["usesSCRAM"] ?? false)
        (self.state, self.lastError) = (try row.get(raw: "state"), row["lastError"])
        (self.seenThrough, self.changedAt) = (try row.get("seenThrough"), try row.get("changedAt"))
    }
}
