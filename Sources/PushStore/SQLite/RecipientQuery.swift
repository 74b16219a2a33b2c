import Foundation
import GRDB
import PushProtocol

/// Reads recipients: a page of devices after a cursor, of named tokens, or single ones for another try.
struct RecipientQuery: Sendable {
    private enum Source {
        case devices(DeviceFilter)
        case targets
    }

    private let source: Source
    private let number: Int64
    private let app: Int64
    private let cursor: Int64
    private let end: Int64
    private let limit: Int
    private let needs: RecipientNeeds
    private let columns: [(need: RecipientNeeds, name: String)]

    /// A page of a shard.
    init(_ claim: ShardClaim, limit: Int, needs: RecipientNeeds) {
        let notification = claim.notification
        self.number = claim.notificationNumber
        self.app = notification.app
        (self.cursor, self.end, self.limit, self.needs) = (claim.cursor, claim.end, limit, needs)
        self.columns = Self.columns(needs)
        guard case .devices(let audience) = notification.audience else {
            self.source = .targets
            return
        }
        self.source = .devices(DeviceFilter(claim, audience: audience))
    }

    /// Single recipients of a notification.
    init(_ notification: NotificationRecord, number: Int64, needs: RecipientNeeds) {
        self.number = number
        self.app = notification.app
        (self.cursor, self.end, self.limit, self.needs) = (0, 0, 1, needs)
        self.columns = Self.columns(needs)
        self.source = .targets
    }

    private static func columns(_ needs: RecipientNeeds) -> [(RecipientNeeds, String)] {
        let all: [(RecipientNeeds, String)] = [
            (.user, "user"), (.locale, "locale"), (.timeZone, "timeZone"), (.appVersion, "appVersion"),
            (.attributes, "attributes"),
        ]
        return all.filter { needs.contains($0.0) }
    }

    private var columnList: String {
        self.columns.reduce(
            "device.id, device.token, device.environment, device.registeredAt, device.suspicions"
        ) { "\($0), device.\($1.name)" }
    }

    /// - Parameter driver: what finds the devices of an audience that is narrow; `nil` walks over all of them.
    func fetch(
        driver: AudienceDriver? = nil,
        in database: Database
    ) throws -> (recipients: [Recipient], unreadable: [EndedRetry]) {
        switch self.source {
        case .devices(let filter): try self.devices(filter, driver: driver, in: database)
        case .targets: try self.targets(in: database)
        }
    }

    private func devices(
        _ filter: DeviceFilter,
        driver: AudienceDriver?,
        in database: Database
    ) throws -> (recipients: [Recipient], unreadable: [EndedRetry]) {
        let (sql, arguments) = self.text(filter, driver: driver)
        // Not every audience deserves a place among the statements that are kept.
        let statement = try RawStatement(sql, isKept: filter.isCommon && driver == nil, in: database)
        defer { statement.reset() }
        for (index, argument) in arguments.enumerated() { statement.bind(argument, at: Int32(index) + 1) }
        var recipients: [Recipient] = []
        recipients.reserveCapacity(self.limit)
        var unreadable: [EndedRetry] = []
        while try statement.step() {
            if let recipient = self.device(statement) {
                recipients.append(recipient)
            } else {
                unreadable.append(Self.unreadable(statement.integer(0)))
            }
        }
        return (recipients, unreadable)
    }

    private static func unreadable(_ id: Int64) -> EndedRetry {
        EndedRetry(id: id, recipient: nil, attempts: 0, cause: .unreadable)
    }

    func text(_ filter: DeviceFilter, driver: AudienceDriver?) -> (sql: String, arguments: [DatabaseValue]) {
        let sql = """
            SELECT \(self.columnList) FROM device \(driver == nil ? filter.index : "NOT INDEXED")
            WHERE app = ? AND id > ? AND id <= ? AND \(filter.condition)\(driver.condition) ORDER BY id LIMIT ?
            """
        var arguments = [self.app, self.cursor, self.end].map(\.databaseValue) + filter.arguments
        if let driver { arguments += driver.arguments(after: self.cursor, upTo: self.end) }
        return (sql, arguments + [self.limit.databaseValue])
    }

    /// `nil` for a row that means nothing.
    private func device(_ statement: RawStatement) -> Recipient? {
        guard let token = statement.token(1), let environment = PushEnvironment(code: statement.integer(2)) else {
            return nil
        }
        let id = statement.integer(0)
        var recipient = Recipient(
            id: id,
            device: id,
            token: token,
            environment: environment,
            registeredAt: Timestamp(milliseconds: statement.integer(3))
        )
        recipient.isSuspected = statement.integer(4) > 0
        recipient.profile = self.profile(statement)
        return recipient
    }

    private func profile(_ statement: RawStatement) -> RecipientProfile? {
        guard !self.columns.isEmpty else { return nil }
        var profile = RecipientProfile()
        for (index, column) in self.columns.enumerated() {
            let position = Int32(index) + 5
            switch column.need {
            case .user: profile.user = statement.text(position)
            case .locale: profile.locale = statement.text(position)
            case .timeZone: profile.timeZone = statement.text(position)
            case .appVersion: profile.appVersion = statement.text(position)
            default: profile.attributes = statement.isNull(position) ? nil : Data(statement.bytes(position))
            }
        }
        return profile
    }

    private func targets(in database: Database) throws -> (recipients: [Recipient], unreadable: [EndedRetry]) {
        let statement = try RawStatement(
            "SELECT position FROM target WHERE notification = ? AND position > ? ORDER BY position LIMIT ?",
            in: database
        )
        defer { statement.reset() }
        statement.bind(self.number, at: 1)
        statement.bind(self.cursor, at: 2)
        statement.bind(Int64(self.limit), at: 3)
        var positions: [Int64] = []
        while try statement.step() { positions.append(statement.integer(0)) }
        statement.reset()
        var recipients: [Recipient] = []
        var unreadable: [EndedRetry] = []
        for position in positions {
            if let recipient = try self.target(position, in: database) {
                recipients.append(recipient)
            } else {
                unreadable.append(Self.unreadable(-position))
            }
        }
        return (recipients, unreadable)
    }

    /// A token that was named: with what is known of it, if it is registered.
    private func target(_ position: Int64, in database: Database) throws -> Recipient? {
        let statement = try RawStatement(
            "SELECT token, environment FROM target WHERE notification = ? AND position = ?",
            in: database
        )
        defer { statement.reset() }
        statement.bind(self.number, at: 1)
        statement.bind(position, at: 2)
        guard try statement.step(), let token = statement.token(0),
            let environment = PushEnvironment(code: statement.integer(1))
        else { return nil }
        let device = try RawStatement(
            "SELECT \(self.columnList) FROM device WHERE app = ? AND token = ? AND environment = ?",
            in: database
        )
        defer { device.reset() }
        device.bind(self.app, at: 1)
        device.bind(token.bytes, at: 2)
        device.bind(environment.code, at: 3)
        guard try device.step() else {
            return Recipient(id: -position, device: nil, token: token, environment: environment)
        }
        var recipient = self.device(device)
        recipient?.id = -position
        return recipient
    }

    /// A recipient that is tried again, with the token that its device has now, or whose tries are over.
    func fetch(
        _ retry: SQLiteStore.DueRetry,
        isCancelled: Bool,
        in database: Database
    ) throws -> RetryRecipient {
        var (recipient, lack) = try self.current(retry, in: database)
        recipient?.attempts = retry.attempts
        if let home = recipient?.environment, let environment = retry.environment, environment != home {
            recipient?.movedFrom = home
            recipient?.environment = environment
        }
        var cause: EndedRetry.Cause? = isCancelled ? .cancelled : nil
        if retry.isInterrupted { cause = .interrupted }
        guard cause == nil, let recipient else {
            return .over(
                EndedRetry(
                    id: retry.recipient,
                    recipient: recipient,
                    attempts: retry.attempts,
                    cause: cause ?? lack
                )
            )
        }
        return .here(recipient)
    }

    /// The recipient as it is now; or why there is none.
    private func current(
        _ retry: SQLiteStore.DueRetry,
        in database: Database
    ) throws -> (Recipient?, orElse: EndedRetry.Cause) {
        if retry.recipient < 0 { return (try self.target(-retry.recipient, in: database), .unreadable) }
        let statement = try RawStatement("SELECT \(self.columnList) FROM device WHERE id = ?", in: database)
        defer { statement.reset() }
        statement.bind(retry.recipient, at: 1)
        guard try statement.step() else { return (nil, .deviceRemoved) }
        return (self.device(statement), .unreadable)
    }
}
