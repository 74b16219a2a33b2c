import Foundation
import GRDB
import PushSupport
package import PushTypes

extension SQLiteStore {
    package func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        now: Timestamp
    ) async throws -> [RegistrationResult] {
        try await self.database.write { database in
            let last = try TokenEventWriter.last(in: database)
            let results = try registrations.map { registration in
                try Registration(registration, app: app, now: now, database: database).run()
            }
            try TokenEventWriter.announce(after: last, app: app, at: now, in: database)
            return results
        }
    }
}

/// The processing of one registration, within a transaction.
private struct Registration {
    /// The stored columns of a device that is known already.
    private struct Known {
        var id: Int64
        var token: DeviceToken
        var isActive: Bool
        var hasLeft: Bool
        var hasInstallation = false
        var user: String?
        var timeZone: String?
    }

    private let registration: DeviceRegistration
    private let app: Int64
    private let now: Timestamp
    private let database: Database

    init(_ registration: DeviceRegistration, app: Int64, now: Timestamp, database: Database) {
        self.registration = registration
        self.app = app
        self.now = now
        self.database = database
    }

    private var changes: RegistrationChanges { RegistrationChanges(app: self.app, database: self.database) }

    /// Adds, refreshes or merges devices, and records the changes of tokens.
    func run() throws -> RegistrationResult {
        let byToken = try self.known(byToken: self.registration.token)
        let byInstallation = try self.registration.installation.flatMap { try self.known(byInstallation: $0) }
        let other = byInstallation?.id == byToken?.id ? nil : byInstallation
        let target = Self.target(byToken: byToken, byInstallation: other)
        let attributes = try self.merged(into: target)
        if let excess = self.excess(attributes) { return Self.rejected(target, excess) }
        guard let target else { return RegistrationResult(device: try self.insert(attributes?.text), kind: .added) }
        if let other, let byToken {
            if target.id == other.id {
                // The installation's token has changed. Another row with the new one is this installation too.
                try self.changes.merge(byToken.id, into: other.id)
            } else {
                // The device with the token is registered, and is the one that had left under this installation.
                try self.changes.takeInstallation(from: other.id, to: byToken.id)
            }
        }
        return try self.renew(target, as: target.id == other?.id ? .tokenReplaced : .refreshed, attributes)
    }

    /// Returns the device of the registration, where token and installation belong to two.
    private static func target(byToken: Known?, byInstallation: Known?) -> Known? {
        guard let byToken, let byInstallation else { return byInstallation ?? byToken }
        // A registered device comes before one that has left, unless it is another installation; and the installation's
        // device before the token's.
        return byInstallation.hasLeft && !byToken.hasInstallation ? byToken : byInstallation
    }

    /// Refreshes a device, or brings back one that had left.
    private func renew(
        _ known: Known,
        as kind: RegistrationResult.Kind,
        _ attributes: Merged?
    ) throws -> RegistrationResult {
        guard !known.hasLeft else {
            try self.revive(known, attributes)
            return RegistrationResult(device: known.id, kind: .added)
        }
        if known.token != self.registration.token { try self.record(.replaced, known) }
        try self.refresh(known, attributes)
        return RegistrationResult(device: known.id, kind: kind)
    }

    /// Brings a device back that had left, as if it were new: only its id stays.
    private func revive(_ known: Known, _ attributes: Merged?) throws {
        try self.database.execute(sql: "DELETE FROM deviceTag WHERE device = ?", arguments: [known.id])
        try self.database.execute(sql: "DELETE FROM deviceAttribute WHERE device = ?", arguments: [known.id])
        try self.database.execute(
            sql: """
                UPDATE device SET createdAt = ?, user = NULL, locale = NULL, timeZone = NULL, appVersion = NULL,
                    versionNumber = NULL, installation = NULL, capabilities = 0, attributes = NULL
                WHERE id = ?
                """,
            arguments: [self.now.milliseconds, known.id]
        )
        try self.refresh(Known(id: known.id, token: known.token, isActive: true, hasLeft: true), attributes)
        try self.changes.returned(known.id)
    }

    private func known(byToken token: DeviceToken) throws -> Known? {
        let statement = try RawStatement(
            "SELECT \(Self.columns) FROM device WHERE app = ? AND token = ? AND environment = ?",
            in: self.database
        )
        statement.bind(self.app, at: 1)
        statement.bind(token.bytes, at: 2)
        statement.bind(self.registration.environment.code, at: 3)
        return try self.known(statement)
    }

    private func known(byInstallation installation: String) throws -> Known? {
        let statement = try RawStatement(
            "SELECT \(Self.columns) FROM device WHERE app = ? AND installation = ? AND environment = ?",
            in: self.database
        )
        statement.bind(self.app, at: 1)
        statement.bind(installation, at: 2)
        statement.bind(self.registration.environment.code, at: 3)
        return try self.known(statement)
    }

    /// Reads a known device; `nil` if the statement gives no row.
    private func known(_ statement: RawStatement) throws -> Known? {
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        guard let token = statement.token(1) else { throw DamagedRow(table: "device") }
        return Known(
            id: statement.integer(0),
            token: token,
            isActive: statement.integer(2) != 0,
            hasLeft: statement.integer(3) != 0,
            hasInstallation: !statement.isNull(6),
            user: statement.text(4),
            timeZone: statement.text(5)
        )
    }

    private static let columns = "id, token, isActive, hasLeft, user, timeZone, installation"

    /// The attributes after a registration.
    private struct Merged {
        var all: [String: JSONValue]
        /// The stored form; `nil` without attributes.
        var text: String?
        /// The size before the registration.
        var before: DeviceBounds.Size?
        /// Is `true` if all earlier attributes are replaced, because they could not be read.
        var replacesAll = false
    }

    /// Returns the bound that the registration would exceed; `nil` if none.
    private func excess(_ attributes: Merged?) -> DeviceExcess? {
        if let attributes, let text = attributes.text,
            let excess = DeviceBounds.excess(attributes: attributes.all, text, before: attributes.before)
        {
            return excess
        }
        return self.registration.tags.flatMap(DeviceBounds.excess)
    }

    private static func rejected(_ known: Known?, _ excess: DeviceExcess) -> RegistrationResult {
        RegistrationResult(device: known?.id ?? 0, kind: .rejected(excess))
    }

    /// Adds a device.
    /// - Returns: its id.
    private func insert(_ attributes: String?) throws -> Int64 {
        let statement = try RawStatement(
            """
            INSERT INTO device (app, environment, token, isActive, createdAt, registeredAt, suspicions, user, locale,
                timeZone, appVersion, versionNumber, installation, capabilities, attributes)
            VALUES (?, ?, ?, 1, ?4, ?4, 0, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            in: self.database
        )
        let registration = self.registration
        statement.bind(self.app, at: 1)
        statement.bind(registration.environment.code, at: 2)
        statement.bind(registration.token.bytes, at: 3)
        statement.bind(self.now.milliseconds, at: 4)
        statement.bind(registration.user?.value, at: 5)
        statement.bind(registration.locale?.value.map(StoredLocale.text), at: 6)
        statement.bind(registration.timeZone?.value, at: 7)
        statement.bind(registration.appVersion?.value, at: 8)
        statement.bind(registration.appVersion?.value.flatMap { AppVersion($0)?.number }, at: 9)
        statement.bind(registration.installation, at: 10)
        statement.bind((registration.capabilities ?? []).rawValue, at: 11)
        statement.bind(attributes, at: 12)
        try statement.run()
        let id = self.database.lastInsertedRowID
        try self.add(registration.tags ?? [], to: id)
        try self.add(registration.attributes.compactMapValues(\.value), to: id)
        try self.changes.pair(registration.token, registration.environment, device: id)
        return id
    }

    /// Writes what the registration contains; the rest stays as it was.
    /// - Parameter attributes: all attributes after it; `nil` if it changes none.
    private func refresh(_ known: Known, _ attributes: Merged?) throws {
        let registration = self.registration
        let version = registration.appVersion.map { $0.value.flatMap { AppVersion($0)?.number } }
        var columns: [(String, (any DatabaseValueConvertible)?)] = [
            ("token", Data(registration.token.bytes)), ("isActive", 1), ("suspicions", 0),
            ("registeredAt", self.now.milliseconds),
        ]
        if let user = registration.user { columns.append(("user", user.value)) }
        if let locale = registration.locale { columns.append(("locale", locale.value.map(StoredLocale.text))) }
        if let zone = registration.timeZone { columns.append(("timeZone", zone.value)) }
        if let appVersion = registration.appVersion { columns.append(("appVersion", appVersion.value)) }
        if let version { columns.append(("versionNumber", version)) }
        if let installation = registration.installation { columns.append(("installation", installation)) }
        if let capabilities = registration.capabilities { columns.append(("capabilities", capabilities.rawValue)) }
        if let attributes {
            columns.append(("attributes", attributes.text))
            try self.write(attributes, of: known.id)
        }
        let assignments = columns.map { "\($0.0) = ?" }.joined(separator: ", ")
        let statement = try self.database.cachedStatement(sql: "UPDATE device SET \(assignments) WHERE id = ?")
        try statement.execute(arguments: StatementArguments(columns.map(\.1) + [known.id]))
        if let tags = registration.tags {
            try self.database.execute(sql: "DELETE FROM deviceTag WHERE device = ?", arguments: [known.id])
            try self.add(tags, to: known.id)
        }
        if !known.isActive { try self.record(.reactivated, known) }
        try self.noteChanges(known)
    }

    /// Notes the changes that notifications in progress have to know of.
    private func noteChanges(_ known: Known) throws {
        let registration = self.registration
        if registration.token != known.token {
            try self.changes.gaveUp(known.token, registration.environment, device: known.id)
            try self.changes.took(registration.token, registration.environment, device: known.id)
        }
        let isAnotherUser = registration.user.map { $0.value != known.user } ?? false
        let isElsewhere = registration.timeZone.map { $0.value != known.timeZone } ?? false
        if !known.hasLeft, isAnotherUser || isElsewhere { try self.changes.changed(known.id) }
    }

    /// Returns all attributes after this registration; `nil` if it changes none. Writes nothing.
    private func merged(into known: Known?) throws -> Merged? {
        let changes = self.registration.attributes
        guard !changes.isEmpty else { return nil }
        guard let known, !known.hasLeft else {
            let all = changes.compactMapValues(\.value)
            return Merged(all: all, text: all.isEmpty ? nil : try Self.text(all))
        }
        let stored = try String.fetchOne(
            self.database,
            sql: "SELECT attributes FROM device WHERE id = ?",
            arguments: [known.id]
        )
        let readable = try? DeviceAttributes.read(stored)
        // Attributes that cannot be read are replaced: keeping them would reject every later registration.
        var attributes = readable ?? [:]
        let before = DeviceBounds.Size(count: attributes.count, bytes: stored?.utf8.count ?? 0)
        for (name, change) in changes { attributes[name] = change.value }
        return Merged(
            all: attributes,
            text: try Self.text(attributes),
            before: before,
            replacesAll: readable == nil
        )
    }

    /// Writes the rows by which the changed attributes are searched.
    private func write(_ attributes: Merged, of device: Int64) throws {
        let changes = self.registration.attributes
        if attributes.replacesAll {
            try self.database.execute(sql: "DELETE FROM deviceAttribute WHERE device = ?", arguments: [device])
        }
        for name in changes.keys {
            try self.database.execute(
                sql: "DELETE FROM deviceAttribute WHERE device = ? AND app = ? AND name = ?",
                arguments: [device, self.app, name]
            )
        }
        try self.add(changes.compactMapValues(\.value), to: device)
    }

    private func add(_ tags: Set<String>, to device: Int64) throws {
        for tag in tags {
            let statement = try RawStatement(
                "INSERT INTO deviceTag (app, tag, device) VALUES (?, ?, ?)",
                in: self.database
            )
            statement.bind(self.app, at: 1)
            statement.bind(tag, at: 2)
            statement.bind(device, at: 3)
            try statement.run()
        }
    }

    private func add(_ attributes: [String: JSONValue], to device: Int64) throws {
        for (name, value) in attributes {
            guard let stored = DeviceAttributes.stored(value) else { continue }
            try self.database.run(
                "INSERT OR REPLACE INTO deviceAttribute (app, name, value, device) VALUES (?, ?, ?, ?)",
                [self.app, name, stored, device]
            )
        }
    }

    private func record(_ action: TokenEventRecord.Action, _ known: Known) throws {
        try TokenEventWriter.add(
            action,
            app: self.app,
            device: known.id,
            token: known.token,
            environment: self.registration.environment,
            at: self.now,
            in: self.database
        )
    }

    private static func text(_ attributes: [String: JSONValue]) throws -> String {
        String(decoding: try JSONValue.object(attributes).text, as: UTF8.self)
    }
}
