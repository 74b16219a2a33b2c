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
            let events = try TokenEventWriter(app: app, now: now, in: database)
            let results = try registrations.map { try Registration(registration: $0, events: events).run() }
            try events.announce()
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
        var isActive, hasLeft: Bool
        var hasInstallation = false
        var user, timeZone: String?
    }

    let registration: DeviceRegistration
    let events: TokenEventWriter

    private var app: Int64 { self.events.app }
    private var database: Database { self.events.database }
    private var changes: RegistrationChanges { RegistrationChanges(app: self.app, database: self.database) }

    /// Adds, refreshes or merges devices, and records the changes of tokens.
    func run() throws -> RegistrationResult {
        let byToken = try self.known(by: "token") { $0.bind(self.registration.token.bytes, at: 3) }
        let byInstallation = try self.registration.installation.flatMap { installation in
            try self.known(by: "installation") { $0.bind(installation, at: 3) }
        }
        let other = byInstallation?.id == byToken?.id ? nil : byInstallation
        let target = Self.target(byToken: byToken, byInstallation: other)
        let attributes = try self.merged(into: target)
        if let excess = self.excess(attributes) {
            return RegistrationResult(device: target?.id ?? 0, kind: .rejected(excess))
        }
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
        try self.database.run(sql: "DELETE FROM deviceTag WHERE device = ?", [known.id])
        try self.database.run(sql: "DELETE FROM deviceAttribute WHERE device = ?", [known.id])
        let sql = """
            UPDATE device SET createdAt = ?, user = NULL, locale = NULL, timeZone = NULL, appVersion = NULL,
                versionNumber = NULL, installation = NULL, capabilities = 0, attributes = NULL
            WHERE id = ?
            """
        try self.database.run(sql: sql, [self.events.now.milliseconds, known.id])
        try self.refresh(Known(id: known.id, token: known.token, isActive: true, hasLeft: true), attributes)
        try self.changes.returned(known.id)
    }

    /// Reads a known device; `nil` if there is none.
    /// - Parameter bind: Binds the value of the column.
    private func known(by column: String, _ bind: (RawStatement) -> Void) throws -> Known? {
        let columns = "id, token, isActive, hasLeft, user, timeZone, installation"
        let sql = "SELECT \(columns) FROM device WHERE app = ? AND environment = ? AND \(column) = ?"
        let statement = try RawStatement(sql: sql, in: self.database)
        defer { statement.reset() }
        statement.bind(self.app, self.registration.environment.code)
        bind(statement)
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

    /// The attributes after a registration.
    private struct Merged {
        var all: [String: JSONValue]
        /// The stored form; `nil` without attributes.
        var text: String?
        /// The size before the registration.
        var before: DeviceBounds.Size?
        /// Indicates whether all earlier attributes are replaced, because they could not be read.
        var replacesAll = false
    }

    /// Returns the bound that the registration would exceed; `nil` if none.
    private func excess(_ attributes: Merged?) -> DeviceExcess? {
        let ofAttributes = attributes.flatMap { attributes in
            attributes.text.flatMap { DeviceBounds.excess(attributes: attributes.all, $0, before: attributes.before) }
        }
        return ofAttributes ?? self.registration.tags.flatMap(DeviceBounds.excess)
    }

    /// Adds a device.
    /// - Returns: Its id.
    private func insert(_ attributes: String?) throws -> Int64 {
        let sql = """
            INSERT INTO device (app, environment, registeredAt, token, createdAt, isActive, suspicions, user, locale,
                timeZone, appVersion, versionNumber, installation, capabilities, attributes)
            VALUES (?, ?, ?3, ?, ?3, 1, 0, ?, ?, ?, ?, ?, ?, ?, ?)
            """
        let statement = try RawStatement(sql: sql, in: self.database)
        let registration = self.registration
        statement.bind(self.app, registration.environment.code, self.events.now.milliseconds)
        statement.bind(registration.token.bytes, at: 4)
        statement.bind(registration.user?.value, at: 5)
        statement.bind(registration.locale?.value.map(LocaleTag.stored), at: 6)
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
    /// - Parameter attributes: All attributes after it; `nil` if it changes none.
    private func refresh(_ known: Known, _ attributes: Merged?) throws {
        let registration = self.registration
        let version = registration.appVersion.map { $0.value.flatMap { AppVersion($0)?.number } }
        var columns: [(String, (any DatabaseValueConvertible)?)] = [
            ("token", Data(registration.token.bytes)), ("isActive", 1), ("suspicions", 0),
            ("registeredAt", self.events.now.milliseconds),
        ]
        if let user = registration.user { columns.append(("user", user.value)) }
        if let locale = registration.locale { columns.append(("locale", locale.value.map(LocaleTag.stored))) }
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
            try self.database.run(sql: "DELETE FROM deviceTag WHERE device = ?", [known.id])
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
        let row = try self.database.row(sql: "SELECT attributes FROM device WHERE id = ?", [known.id])
        let stored = row?["attributes"] as String?
        let readable = try? DeviceAttributes.read(stored)
        // Attributes that cannot be read are replaced: keeping them would reject every later registration.
        var attributes = readable ?? [:]
        let before = DeviceBounds.Size(count: attributes.count, bytes: stored?.utf8.count ?? 0)
        for (name, change) in changes { attributes[name] = change.value }
        return Merged(all: attributes, text: try Self.text(attributes), before: before, replacesAll: readable == nil)
    }

    /// Writes the rows by which the changed attributes are searched.
    private func write(_ attributes: Merged, of device: Int64) throws {
        let changes = self.registration.attributes
        if attributes.replacesAll {
            try self.database.run(sql: "DELETE FROM deviceAttribute WHERE device = ?", [device])
        }
        let sql = "DELETE FROM deviceAttribute WHERE device = ? AND app = ? AND name = ?"
        for name in changes.keys { try self.database.run(sql: sql, [device, self.app, name]) }
        try self.add(changes.compactMapValues(\.value), to: device)
    }

    private func add(_ tags: Set<String>, to device: Int64) throws {
        for tag in tags {
            let sql = "INSERT INTO deviceTag (app, device, tag) VALUES (?, ?, ?)"
            let statement = try RawStatement(sql: sql, in: self.database)
            statement.bind(self.app, device)
            statement.bind(tag, at: 3)
            try statement.run()
        }
    }

    private func add(_ attributes: [String: JSONValue], to device: Int64) throws {
        let sql = "INSERT OR REPLACE INTO deviceAttribute (app, name, value, device) VALUES (?, ?, ?, ?)"
        for (name, value) in attributes {
            guard let stored = DeviceAttributes.stored(value) else { continue }
            try self.database.run(sql: sql, [self.app, name, stored, device])
        }
    }

    private func record(_ action: TokenEventRecord.Action, _ known: Known) throws {
        let environment = self.registration.environment
        try self.events.add(action, device: known.id, token: known.token, environment: environment)
    }

    private static func text(_ attributes: [String: JSONValue]) throws -> String {
        String(decoding: try JSONValue.object(attributes).text, as: UTF8.self)
    }
}
