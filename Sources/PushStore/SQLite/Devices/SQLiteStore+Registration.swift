import Foundation
import GRDB
package import PushSupport
import PushTypes

extension SQLiteStore {
    package func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        at clocks: ClockReading
    ) async throws -> [RegistrationResult] {
        try await self.database.write { database in
            let events = try TokenEventWriter(app: app, now: clocks.later, in: database)
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
}

extension SQLiteStore {
    package func registerOwn(
        _ registration: DeviceRegistration,
        isProven: Bool,
        app: Int64,
        at clocks: ClockReading
    ) async throws -> RegistrationResult? {
        let (own, token) = (registration.installation, registration.token)
        return try await self.database.write { database in
            func devices(_ column: String, _ value: DatabaseValue) throws -> [DeviceRecord] {
                let condition = "app = ? AND \(column) = ? AND hasLeft = 0"
                return try Self.devices(database, where: condition, arguments: [app.databaseValue, value]).devices
            }
            // In both environments: the installation has one secret, which the caller learns.
            let known = try devices("installation", own.databaseValue)
            guard isProven || known.isEmpty || known.contains(where: { $0.token == token }) else { return nil }
            var accepted = registration
            let here = registration.environment
            let holder = try devices("token", token.databaseValue).first { $0.environment == here }
            let isNew = !known.contains { $0.environment == here }
            if isNew, let holder, holder.profile.installation != nil, !holder.profile.installation.isExactly(own),
                accepted.user == nil
            {
                accepted.user = .clear
            }
            let events = try TokenEventWriter(app: app, now: clocks.later, in: database)
            let result = try Registration(registration: accepted, events: events, now: clocks.wall).run()
            if !result.isRejected { try self.store(accepted, app: app, in: database) }
            try events.announce()
            return result
        }
    }
}
