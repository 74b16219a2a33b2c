import Foundation
package import ProviderModel
package import PushSupport
import PushTypes

/// The processing of one registration, within a transaction.
struct Registration {
    var registration: DeviceRegistration
    /// The writer of token events, which it dates, like users' periods, by the later of the wall and steady clocks.
    let events: TokenEventWriter
    /// The time of the registration by the wall clock, like the times that the push service reports.
    let now: Timestamp

    var app: Int64 { self.events.app }
    var database: any SQLConnection { self.events.database }
    private var users: DeviceUsers { DeviceUsers(app: self.app, database: self.database) }
    private var changes: RegistrationChanges { RegistrationChanges(app: self.app, database: self.database) }

    /// Adds, refreshes or merges devices, and records token events. A registration that would exceed a limit of the
    /// device changes nothing, and the result names the limit.
    func run() throws -> RegistrationResult {
        let rows = RegisteredRowReader(
            app: self.app,
            environment: self.registration.environment,
            database: self.database
        )
        let byToken = try rows.device(with: self.registration.token)
        let place = DevicePlace(self.registration, byToken)
        let installation = try rows.devices(of: place)
        let byInstallation = installation.first(where: place.isPlace)
        let other = byInstallation?.id == byToken?.id ? nil : byInstallation
        let target = try self.target(byToken: byToken, byInstallation: other, place)
        let siblings = installation.filter { !$0.hasLeft && ![target?.id, byToken?.id, other?.id].contains($0.id) }
        // A device that joins an installation takes over the profile of the installation's other devices.
        let joins = target.map { $0.hasLeft || !$0.installation.isExactly(place.installation) } ?? true
        // A device that returns with a registered token takes over the unchanged profile of that token's device.
        let holder = target?.hasLeft == true && target?.id != byToken?.id && byToken?.hasLeft == false ? byToken : nil
        let change = Change(place: place, source: joins ? siblings.first ?? holder : nil, holder: holder)
        if let complete = try self.completed(with: change.source ?? target) { return try complete.run() }
        let attributes = try self.merged(into: change.source ?? target)
        if let excess = self.excess(attributes) {
            return RegistrationResult(device: target?.id ?? 0, kind: .rejected(excess))
        }
        let user = (change.source ?? target)?.user
        let own = Set([target, byToken, other].compactMap { $0 })
        let outdated =
            try own.filter { try self.isOutdated($0, user: user) }
            + siblings.filter { try self.isOutdated($0, user: $0.user) }
        var result: RegistrationResult
        var removed: Set<Int64> = []
        if let target {
            try self.merge(byToken: byToken, byInstallation: other, into: target)
            result = try self.renew(
                target,
                as: target.id == other?.id ? .tokenReplaced : .refreshed,
                change,
                attributes
            )
        } else {
            result = RegistrationResult(device: try self.insert(change, attributes), kind: .added)
            removed = Set(try self.limitActivities(siblings, place))
        }
        try self.share(result.device, with: siblings.filter { !removed.contains($0.id) })
        result.outdated = removed.union(outdated.map(\.id)).sorted()
        return result
    }

    /// Returns whether the registration takes a device away from its user or changes the device's preferences, so that
    /// copies of the device in memory are out of date.
    /// - Parameter user: The user to whom the device then belongs if the registration names none, or `nil` for no user.
    private func isOutdated(_ known: RegisteredRow, user: String?) throws -> Bool {
        guard !known.hasLeft else { return false }
        if known.user != nil, !(self.registration.user.map(\.value) ?? user).isExactly(known.user) { return true }
        guard let preferences = self.registration.preferences.map({ $0.value ?? Preferences() }) else { return false }
        let sql = "SELECT optOuts, quietHours FROM device WHERE id = ?"
        guard let row = try self.database.row(sql: sql, [known.id]) else { return false }
        return StoredOptOuts.read(row["optOuts"]) != preferences.optOuts
            || row["quietHours"] as String? != preferences.quietHours?.stored
    }

    /// Returns the registration with `ownTags` and `clearedAttributes` replaced by the tags that stay and the names of
    /// the attributes to remove, which depend on the stored device. Returns `nil` if the registration has neither.
    private func completed(with known: RegisteredRow?) throws -> Registration? {
        guard self.registration.ownTags != nil || self.registration.clearedAttributes != nil else { return nil }
        var complete = self
        (complete.registration.ownTags, complete.registration.clearedAttributes) = (nil, nil)
        guard let known, !known.hasLeft else { return complete }
        if let own = self.registration.ownTags, let tags = self.registration.tags {
            let sql = "SELECT tag FROM deviceTag WHERE device = ?"
            let stored = try self.database.rows(sql: sql, [known.id]).compactMap { $0["tag"] as String? }
            complete.registration.tags = tags.union(stored.filter { !own.match($0) }.map { BytewiseString($0) })
        }
        if let cleared = self.registration.clearedAttributes {
            let row = try self.database.row(sql: "SELECT attributes FROM device WHERE id = ?", [known.id])
            let names = (try? DeviceAttributes.read(row?["attributes"]))?.keys ?? [:].keys
            for name in names where cleared.match(name) && complete.registration.attributes[name] == nil {
                complete.registration.attributes[name] = .clear
            }
        }
        return complete
    }

    /// The changes to a device that result from the other devices of its installation.
    private struct Change {
        var place: DevicePlace
        /// The device from which the fields that the registration omits are copied, or `nil` to keep the current ones.
        var source: RegisteredRow?
        /// The registered device whose token a returning, removed device takes over, or `nil` if there is none.
        var holder: RegisteredRow?
    }

    /// Returns the device to update, that with the token or that of the installation, or `nil` if neither exists.
    private func target(
        byToken: RegisteredRow?,
        byInstallation: RegisteredRow?,
        _ place: DevicePlace
    ) throws -> RegisteredRow? {
        guard let byToken, let byInstallation else { return byInstallation ?? byToken }
        // The installation's device is preferred to that of the token. A registered device is preferred to one that has
        // left, unless it belongs to another installation and notifications in progress may be meant for both.
        guard byInstallation.hasLeft else { return byInstallation }
        let isOfOther = byToken.installation != nil && !byToken.installation.isExactly(place.installation)
        return try isOfOther && self.changes.isWatched() ? byInstallation : byToken
    }

    /// Merges the device with the token and the installation's device, if both exist and are different.
    private func merge(byToken: RegisteredRow?, byInstallation: RegisteredRow?, into target: RegisteredRow) throws {
        guard let byToken, let byInstallation else { return }
        if target.id == byInstallation.id {
            // The installation has a new token. The other device with this token is the same installation.
            try self.users.removed(byToken.id, at: self.events.now)
            try self.changes.merge(byToken.id, into: byInstallation.id)
        } else {
            // The device with the token is registered, and is the same as the removed device of this installation.
            try self.changes.takeInstallation(from: byInstallation.id, to: byToken.id)
        }
    }

    /// Refreshes a registered device, or restores a removed one.
    /// - Parameter attributes: All attributes after the registration, or `nil` if it changes no attribute.
    private func renew(
        _ known: RegisteredRow,
        as kind: RegistrationResult.Kind,
        _ change: Change,
        _ attributes: Merged?
    ) throws -> RegistrationResult {
        guard !known.hasLeft else {
            try self.revive(known, change, attributes)
            guard var holder = change.holder else { return RegistrationResult(device: known.id, kind: .added) }
            holder.id = known.id
            if !holder.isActive { try self.record(.reactivated, holder) }
            return RegistrationResult(device: known.id, kind: .refreshed)
        }
        if known.token != self.registration.token { try self.record(.replaced, known) }
        try self.refresh(known, change, attributes)
        return RegistrationResult(device: known.id, kind: kind)
    }

    /// Restores a removed device. Except for its id, it is then like a new one or the one with the token.
    private func revive(_ known: RegisteredRow, _ change: Change, _ attributes: Merged?) throws {
        try self.users.ended(known.user, of: known.id, at: self.events.now)
        try self.database.run(sql: "DELETE FROM deviceTag WHERE device = ?", [known.id])
        try self.database.run(sql: "DELETE FROM deviceAttribute WHERE device = ?", [known.id])
        let sql = """
            UPDATE device SET createdAt = coalesce((SELECT createdAt FROM device WHERE id = ?3), ?1), user = NULL,
                locale = NULL, timeZone = NULL, appVersion = NULL, versionNumber = NULL, installation = NULL,
                capabilities = 0, attributes = NULL, optOuts = NULL, quietHours = NULL, encryptionKeyID = NULL,
                encryptionKey = NULL
            WHERE id = ?2
            """
        try self.database.run(sql: sql, [self.now.milliseconds, known.id, change.holder?.id])
        var returned = known
        (returned.isActive, returned.user, returned.timeZone) = (true, nil, nil)
        try self.refresh(returned, change, attributes)
        try self.changes.returned(known.id)
    }

    /// Copies the profile fields that the registration contains to the other devices of the installation.
    private func share(_ device: Int64, with siblings: [RegisteredRow]) throws {
        guard !siblings.isEmpty else { return }
        let parts = ProfileParts(namedBy: self.registration)
        for sibling in siblings {
            try parts.copy(from: device, to: sibling.id, in: self.database)
            try self.noteUser(of: sibling)
            if self.changesAudience(of: sibling, source: nil) { try self.changes.changed(sibling.id) }
        }
    }

    /// Removes the installation's oldest devices of Live Activities beyond the limit, after another one was added.
    /// - Returns: The ids of the removed devices.
    private func limitActivities(_ siblings: [RegisteredRow], _ place: DevicePlace) throws -> [Int64] {
        guard place.kind == .liveActivityUpdate else { return [] }
        let activities = siblings.filter { $0.kind == .liveActivityUpdate }.sorted { $0.id < $1.id }
        return try activities.dropLast(DeviceLimits.activities - 1).map { device in
            try self.users.removed(device.id, at: self.events.now)
            try self.changes.leave(device.id, isReadable: true)
            try self.record(.deleted, device)
            return device.id
        }
    }

    /// Returns the columns to write: those in the registration, and those that every registration renews.
    private func columns(_ change: Change) -> ColumnValues {
        let registration = self.registration
        var columns: ColumnValues = [
            "token": registration.token.sqlValue, "isActive": 1, "suspicions": 0,
            "registeredAt": self.now.milliseconds, "kind": change.place.kind.code, "activity": change.place.activity,
        ]
        if let user = registration.user { columns += ["user": user.value] }
        if let locale = registration.locale { columns += ["locale": locale.value.map(LocaleTag.stored)] }
        if let zone = registration.timeZone { columns += ["timeZone": zone.value] }
        if let version = registration.appVersion {
            let number = version.value.flatMap { AppVersion($0)?.number }
            columns += ["appVersion": version.value, "versionNumber": number]
        }
        if let installation = registration.installation { columns += ["installation": installation] }
        if let capabilities = registration.capabilities { columns += ["capabilities": capabilities.rawValue] }
        if let preferences = registration.preferences {
            let optOuts = preferences.value.flatMap { StoredOptOuts.text($0.optOuts) }
            columns += ["optOuts": optOuts, "quietHours": preferences.value?.quietHours?.stored]
        }
        if let key = registration.encryptionKey { columns += Self.keyColumns(key.value) }
        return columns
    }

    private static func keyColumns(_ key: InstallationPublicKey?) -> ColumnValues {
        ["encryptionKeyID": key?.id, "encryptionKey": key.map { Data($0.bytes) }]
    }

    private func insert(_ change: Change, _ attributes: Merged?) throws -> Int64 {
        let registration = self.registration
        var columns = self.columns(change)
        columns += [
            "app": self.app, "environment": registration.environment.code, "createdAt": self.now.milliseconds,
            "attributes": attributes?.text, "userSince": try RegistrationChanges.clock(in: self.database),
        ]
        let id = try self.database.insert(into: "device", of: .app, columns, returning: "id")
        try self.add(registration.tags ?? [], to: id)
        if let source = change.source {
            try self.inherit(from: source.id, to: id, attributes)
            if registration.user == nil { try self.noteUserSince(of: id, from: source.id) }
        } else {
            try self.add(registration.attributes.compactMapValues(\.value), to: id)
        }
        try self.changes.pair(registration.token, registration.environment, device: id)
        return id
    }

    private func inherit(from source: Int64, to device: Int64, _ attributes: Merged?) throws {
        try ProfileParts(leftOutBy: self.registration).copy(from: source, to: device, in: self.database)
        guard let attributes else { return }
        try self.database.run(sql: "UPDATE device SET attributes = ? WHERE id = ?", [attributes.text, device])
        try self.write(attributes, of: device)
    }

    /// Writes the fields that the registration contains. Other fields stay or, if the device joins an installation, are
    /// copied from another device of that installation.
    /// - Parameter attributes: All attributes after the registration, or `nil` if it changes no attribute.
    private func refresh(_ known: RegisteredRow, _ change: Change, _ attributes: Merged?) throws {
        var columns = self.columns(change)
        // The encryption key of another installation is useless to this one.
        let isOther = known.installation != nil && !known.installation.isExactly(change.place.installation)
        let hasOtherKey = change.source.map { $0.id == change.holder?.id } ?? isOther
        if hasOtherKey, self.registration.encryptionKey == nil { columns += Self.keyColumns(nil) }
        if let source = change.source {
            try self.inherit(from: source.id, to: known.id, attributes)
        } else if let attributes {
            columns += ["attributes": attributes.text]
            try self.write(attributes, of: known.id)
        }
        try self.database.update("device", columns, id: known.id)
        if let tags = self.registration.tags {
            try self.database.run(sql: "DELETE FROM deviceTag WHERE device = ?", [known.id])
            try self.add(tags, to: known.id)
        }
        if !known.isActive { try self.record(.reactivated, known) }
        try self.noteChanges(known, change)
    }

    private func noteChanges(_ known: RegisteredRow, _ change: Change) throws {
        let registration = self.registration
        if registration.token != known.token {
            try self.changes.gaveUp(known.token, registration.environment, device: known.id)
            try self.changes.took(registration.token, registration.environment, device: known.id)
        }
        let isOther = !change.place.isPlace(of: known) || self.changesAudience(of: known, source: change.source)
        if !known.hasLeft, isOther { try self.changes.changed(known.id) }
        try self.noteUser(of: known, source: change.source, holder: change.holder)
    }

    /// Ends the period of a device's former user and begins that of the new one, if the registration changes the user.
    /// - Parameters:
    ///   - source: The device from which the user is copied if the registration omits it, or `nil` to keep the user.
    ///   - holder: The registered device whose token the device takes over, or `nil` if there is none.
    private func noteUser(
        of known: RegisteredRow,
        source: RegisteredRow? = nil,
        holder: RegisteredRow? = nil
    ) throws {
        let user = self.registration.user.map(\.value) ?? (source ?? known).user
        guard !user.isExactly(known.user) else { return }
        try self.users.ended(known.user, of: known.id, at: self.events.now)
        // A user who is named again and had the device before is the same one.
        let named = holder.flatMap { user.isExactly($0.user) ? $0.id : nil }
        try self.noteUserSince(of: known.id, from: self.registration.user == nil ? source?.id : named)
    }

    /// Records the change by which a device got its user: the present one or, if the user was copied from the device
    /// `source`, the same one as for that device. `source` is `nil` if the user was not copied.
    private func noteUserSince(of device: Int64, from source: Int64?) throws {
        let sql = """
            UPDATE device SET userSince = iif(CAST(?2 AS BIGINT) IS NULL, (SELECT number FROM registrationClock),
                (SELECT \(RegistrationChanges.userChange) FROM device WHERE id = ?2))
            WHERE id = ?1
            """
        try self.database.run(sql: sql, device, source)
    }

    /// Returns whether the registration changes the user or the time zone of a device. Values that the registration
    /// omits are copied from `source` or, with `nil`, stay unchanged.
    private func changesAudience(of known: RegisteredRow, source: RegisteredRow?) -> Bool {
        let before = source ?? known
        let user = self.registration.user.map(\.value) ?? before.user
        let timeZone = self.registration.timeZone.map(\.value) ?? before.timeZone
        return !user.isExactly(known.user) || timeZone != known.timeZone
    }

    private func add(_ tags: Set<BytewiseString>, to device: Int64) throws {
        for tag in tags {
            try self.database.insert(into: "deviceTag", ["app": self.app, "device": device, "tag": tag.text])
        }
    }

    private func record(_ action: TokenEventRecord.Action, _ known: RegisteredRow) throws {
        let environment = self.registration.environment
        try self.events.add(action, device: known.id, token: known.token, environment: environment)
    }
}

extension SQLStore {
    package func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        at clocks: ClockReading
    ) async throws -> [RegistrationResult] {
        try await self.database.write { database in
            let events = TokenEventWriter(app: app, now: clocks.later, in: database)
            let results = try registrations.map { registration in
                let result = try Registration(registration: registration, events: events, now: clocks.wall)
                    .run()
                if !result.isRejected { try self.store(registration, app: app, in: database) }
                return result
            }
            try events.announce()
            return results
        }
    }

    package func registerOwn(
        _ registration: DeviceRegistration,
        isProven: Bool,
        app: Int64,
        at clocks: ClockReading
    ) async throws -> RegistrationResult? {
        let (own, token) = (registration.installation, registration.token)
        return try await self.database.write { database in
            func devices(_ column: String, _ value: SQLValue) throws -> [DeviceRecord] {
                let condition = "app = ? AND \(column) = ? AND hasLeft = 0"
                return try DeviceRows(database: database).devices(where: condition, [app.sqlValue, value])
            }
            // Both environments are searched, because the caller receives the secret that the installation has in both.
            let known = try devices("installation", own.sqlValue)
            guard isProven || known.isEmpty || known.contains(where: { $0.token == token }) else { return nil }
            var accepted = registration
            let here = registration.environment
            let holder = try devices("token", token.sqlValue).first { $0.environment == here }
            let isNew = !known.contains { $0.environment == here }
            if isNew, let holder, holder.profile.installation != nil, !holder.profile.installation.isExactly(own),
                accepted.user == nil
            {
                accepted.user = .clear
            }
            let events = TokenEventWriter(app: app, now: clocks.later, in: database)
            let result = try Registration(registration: accepted, events: events, now: clocks.wall).run()
            if !result.isRejected { try self.store(accepted, app: app, in: database) }
            try events.announce()
            return result
        }
    }
}

/// The attributes of a registration. They are stored as JSON text and as searchable rows.
extension Registration {
    /// All attributes of the device after the registration.
    private struct Merged {
        var all: [String: JSONValue]
        /// The attributes as JSON text, or `nil` if there are none.
        var text: String?
        /// The number and size of the attributes before the registration, or `nil` for a new or removed device.
        var before: DeviceLimits.Size?
        /// A Boolean value that indicates whether the rows of all earlier attributes are replaced, because the
        /// attributes could not be read, or because some of their names may be canonically equivalent to new ones.
        var replacesAll = false
    }

    /// Returns the limit that the device would exceed, or `nil` if it stays within all limits.
    private func excess(_ attributes: Merged?) -> ExceededDeviceLimit? {
        let ofAttributes = attributes.flatMap { attributes in
            attributes.text.flatMap { DeviceLimits.excess(attributes: attributes.all, $0, before: attributes.before) }
        }
        return ofAttributes ?? self.registration.tags.flatMap(DeviceLimits.excess)
    }

    /// Returns all attributes after this registration, or `nil` if it changes no attribute. It writes nothing.
    private func merged(into known: RegisteredRow?) throws -> Merged? {
        let changes = self.registration.attributes
        guard !changes.isEmpty else { return nil }
        guard let known, !known.hasLeft else {
            let all = changes.compactMapValues(\.value)
            return Merged(all: all, text: all.isEmpty ? nil : try Self.text(all))
        }
        let row = try self.database.row(sql: "SELECT attributes FROM device WHERE id = ?", [known.id])
        let stored = row?["attributes"] as String?
        let readable = try? DeviceAttributes.read(stored)
        // Unreadable attributes are replaced. Otherwise every later registration would be rejected.
        var attributes = readable ?? [:]
        let before = DeviceLimits.Size(count: attributes.count, bytes: stored?.utf8.count ?? 0)
        for (name, change) in changes {
            // Of canonically equivalent names, the newest is kept (docs/decisions/0034).
            attributes.removeValue(forKey: name)
            attributes[name] = change.value
        }
        let mayLookAlike = changes.keys.contains { !$0.utf8.allSatisfy { $0 < 0x80 } }
        return Merged(
            all: attributes,
            text: try Self.text(attributes),
            before: before,
            replacesAll: readable == nil || mayLookAlike
        )
    }

    /// Writes the rows by which devices are found for the changed attributes.
    private func write(_ attributes: Merged, of device: Int64) throws {
        if attributes.replacesAll {
            try self.database.run(sql: "DELETE FROM deviceAttribute WHERE device = ?", [device])
            return try self.add(attributes.all, to: device)
        }
        let changes = self.registration.attributes
        let sql = "DELETE FROM deviceAttribute WHERE device = ? AND app = ? AND name = ?"
        for name in changes.keys { try self.database.run(sql: sql, [device, self.app, name]) }
        try self.add(changes.compactMapValues(\.value), to: device)
    }

    private func add(_ attributes: [String: JSONValue], to device: Int64) throws {
        for (name, value) in attributes {
            guard let stored = self.database.attributes.stored(value) else { continue }
            let values: ColumnValues = ["app": self.app, "name": name, stored.column: stored.value, "device": device]
            try self.database.insert(into: "deviceAttribute", values, "ON CONFLICT DO NOTHING")
        }
    }

    private static func text(_ attributes: [String: JSONValue]) throws -> String {
        String(decoding: try JSONValue.object(attributes).text, as: UTF8.self)
    }
}

/// Converts attributes from the JSON text in which a device's are stored.
enum DeviceAttributes {
    /// Returns the attributes in the stored text of a device, or no attributes for `nil`.
    /// - Throws: ``DamagedRow`` for text that is not a JSON object.
    static func read(_ text: String?) throws -> [String: JSONValue] {
        guard let text else { return [:] }
        guard let value = try? JSONValue(parsing: Data(text.utf8)), case .object(let members) = value
        else { throw DamagedRow(table: "device") }
        return members
    }
}
