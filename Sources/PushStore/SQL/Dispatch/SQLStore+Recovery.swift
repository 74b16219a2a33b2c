package import PushTypes

extension SQLStore {
    package func recover(now: Timestamp) async throws -> Int {
        try await self.database.write { database in
            try Leases.release(try database.integers(sql: "SELECT fence FROM lease"), in: database)
            // The delivery keeps its state, so that the push is not sent again.
            let sql = """
                INSERT INTO retry (notification, recipient, lane, app, attempts, dueAt)
                SELECT delivery.notification, recipient, lane, app, attempts, ?
                FROM delivery JOIN notification ON notification.number = delivery.notification
                WHERE delivery.state = 0
                ON CONFLICT DO NOTHING
                """
            return try database.run(sql: sql, [now.milliseconds])
        }
    }
}
