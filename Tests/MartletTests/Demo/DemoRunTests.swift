import Logging
import PushTesting
import ServiceLifecycle
import Synchronization
import Testing

@testable import martlet

@Suite struct DemoRunTests {
    @Test func oneNotificationGoesAllTheWayRound() async throws {
        let text = try await Self.demo(endsAfterDelivery: true).joined()
        for step in [
            "registered: ", "shown: [1] Hello · This went all the way round.", "ledger: accepted by the push service",
            "event: Delivered to Device", "opened: [1] Hello", "screen: order(id: 42)", "receipts: ",
        ] { #expect(text.contains(step), "\(step)") }
    }

    /// Ctrl-C at each step ends the demo without an error.
    @Test(arguments: 1...10) func aDemoThatIsInterruptedEndsWithoutAnError(step: Int) async throws {
        let lines = try await Self.demo(endsAfterDelivery: false, interruptedAfter: step)
        #expect(lines.count >= step)
    }

    /// Runs a demo and returns the lines of its standard output.
    /// - Parameter step: The number of lines after which it is asked to end, as by Ctrl-C; `nil` for never.
    private static func demo(endsAfterDelivery: Bool, interruptedAfter step: Int? = nil) async throws -> [String] {
        try await withTemporaryDirectory { directory in
            let log = LogConfiguration(try await SettingsReader(environment: [:]), defaultLevel: .critical)
            return try await Self.demo(directory, log, endsAfterDelivery, interruptedAfter: step)
        }
    }

    private static func demo(
        _ directory: String,
        _ log: LogConfiguration,
        _ endsAfterDelivery: Bool,
        interruptedAfter step: Int?
    ) async throws -> [String] {
        let roles = DemoRoles(logger: silentLogger)
        var demo = DemoRun(directory: directory, endsAfterDelivery: endsAfterDelivery, roles: roles, log: log)
        demo.deadline = .patience
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: roles), .init(service: demo, successTerminationBehavior: .gracefullyShutdownGroup),
                ],
                logger: silentLogger
            )
        )
        let lines = Mutex<[String]>([])
        let (steps, next) = AsyncStream<Int>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                guard let step else { return }
                for await number in steps where number >= step { return await group.triggerGracefulShutdown() }
            }
            try await StandardOutput.$write.withValue(
                { data in
                    let count = lines.withLock {
                        $0.append(String(decoding: data, as: UTF8.self))
                        return $0.count
                    }
                    next.yield(count)
                },
                operation: {
                    try await APIClient.$timeout.withValue(.patience) {
                        try await APIClient.$silence.withValue(.patience) {
                            try await DemoLoop.$patience.withValue(1200) { try await group.run() }
                        }
                    }
                }
            )
            tasks.cancelAll()
        }
        return lines.withLock { $0 }
    }
}
