import Foundation
import PushTesting
import Testing

@testable import MartletKit

@Suite("Arguments that cannot be", .timeLimit(.patience)) struct MartletUsageTests {
    /// A call with an argument that exceeds a limit.
    struct Misuse: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The name of the argument in the error.
        let name: String
        let call: @Sendable (Martlet) async throws -> Void
    }

    private static let long = String(repeating: "x", count: 257)
    private static let misuses: [Misuse] = [
        .init(testDescription: "empty token", name: "token") { try await $0.register(token: Data()) },
        .init(testDescription: "long token", name: "token") { try await $0.register(token: Data(count: 513)) },
        .init(testDescription: "kind with an invalid name", name: "token") {
            try await $0.register(token: TestApp.token, kind: TokenKind(rawValue: "é"))
        },
        .init(testDescription: "activity without an id", name: "token") {
            try await $0.register(token: TestApp.token, kind: .liveActivityUpdate(activity: ""))
        },
        .init(testDescription: "long proof", name: "userProof") {
            try await $0.attach(userProof: String(repeating: "x", count: 5000))
        },
        .init(testDescription: "long category", name: "optOuts") {
            try await $0.setPreferences(NotificationPreferences(optOuts: [String(repeating: "x", count: 65)]))
        },
        .init(testDescription: "101 categories", name: "optOuts") {
            try await $0.setPreferences(NotificationPreferences(optOuts: Set((0...100).map { "\($0)" })))
        },
        .init(testDescription: "empty tag", name: "tags") { try await $0.setTags([""]) },
        .init(testDescription: "tags of more than 8 kB", name: "tags") {
            try await $0.setTags(Set((0..<99).map { String(repeating: "\u{1}", count: 20) + "\($0)" }))
        },
        .init(testDescription: "attribute without a name", name: "attributes") { try await $0.setAttribute("", to: 1) },
        .init(testDescription: "attribute with an array", name: "attributes") {
            try await $0.setAttribute("a", to: .array([]))
        },
        .init(testDescription: "attribute with a long text", name: "attributes") {
            try await $0.setAttribute("a", to: .string(Self.long))
        },
        .init(testDescription: "attribute that is no number", name: "attributes") {
            try await $0.setAttribute("a", to: .number(.nan))
        },
        .init(testDescription: "infinite attribute", name: "attributes") {
            try await $0.setAttribute("a", to: .number(-.infinity))
        },
        .init(testDescription: "101 attributes", name: "attributes") { martlet in
            for number in 0...100 { try await martlet.setAttribute("\(number)", to: 1) }
        },
        .init(testDescription: "long version", name: "appVersion") {
            try await $0.updateProfile(DeviceProfile(appVersion: Self.long))
        },
        .init(testDescription: "long conversion", name: "name") {
            try await $0.recordConversion(of: UUID(), name: Self.long)
        },
    ]

    @Test("An argument beyond a limit is an error that names it, and nothing is sent", arguments: Self.misuses)
    func misuse(_ misuse: Misuse) async throws {
        let app = try TestApp()
        let error = await #expect(throws: Martlet.UsageError.self) { try await misuse.call(app.martlet) }
        guard case .invalidArgument(let name, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(name == misuse.name && !reason.isEmpty && error?.description == "\(name): \(reason)")
        await app.martlet.synchronize()
        #expect(app.transport.requests.isEmpty && app.events.isEmpty)
    }

    @Test("A number without a fraction is the same after a restart")
    func wholeNumber() async throws {
        let app = try TestApp()
        try await app.martlet.register(token: TestApp.token)
        try await app.martlet.setAttribute("level", to: 3.0)
        await app.martlet.synchronize()
        #expect(app.transport.bodies().compactMap { $0["attributes"] } == [.object(["level": 3])])
        let again = try TestApp(storage: app.storage)
        try await again.martlet.setAttribute("level", to: 3.0)
        await again.martlet.synchronize()
        #expect(again.transport.requests.isEmpty)
    }

    @Test("A kind of token that this version does not know is registered by its word")
    func otherKind() async throws {
        let app = try TestApp()
        try await app.martlet.register(token: TestApp.token, kind: TokenKind(rawValue: "watchFace"))
        await app.martlet.synchronize()
        #expect(app.transport.bodies().first?["kind"] == "watchFace")
        #expect(app.events == [.registered(kind: TokenKind(rawValue: "watchFace"))])
    }
}
