import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderModel

/// What the binary protocol cannot carry.
@Suite struct TransportLintTests {
    private func content(
        _ type: PushType = .alert,
        collapseID: String? = nil,
        payload: Int = 20,
        isTemplate: Bool = false
    ) throws -> NotificationContent {
        NotificationContent(
            topic: try #require(Topic(Vectors.bundleID)),
            pushType: type,
            priority: .immediate,
            expiration: .servicePolicy,
            collapseID: collapseID,
            payload: Data(repeating: 0x20, count: payload),
            isTemplate: isTemplate
        )
    }

    @Test func usualPushesNeedNoLookAtTheCredentials() throws {
        #expect(try !TransportLint(content: self.content()).isNeeded)
        #expect(try !TransportLint(content: self.content(.background, payload: 2048)).isNeeded)
        #expect(try !TransportLint(content: self.content(payload: 3000, isTemplate: true)).isNeeded)
        #expect(try TransportLint(content: self.content(payload: 2049)).isNeeded)
        #expect(try TransportLint(content: self.content(collapseID: "a")).isNeeded)
        #expect(try TransportLint(content: self.content(.widgets)).isNeeded)
    }

    @Test func whatNoEnvironmentCouldSendIsRefused() throws {
        let binary: [PushEnvironment: PushTransport] = [.sandbox: .binary]
        func error(_ content: NotificationContent) -> RequestError? {
            do {
                _ = try TransportLint(content: content).check(binary)
                return nil
            } catch {
                return error
            }
        }
        let type = try error(self.content(.liveactivity))
        #expect(type?.code == "needs_http2" && type?.path == "pushType")
        #expect(type?.message.contains("sandbox") == true && type?.message.contains("liveactivity") == true)
        let payload = try error(self.content(payload: 2049))
        #expect(payload?.code == "payload_too_large" && payload?.message.contains("2048") == true)
        let warnings = try TransportLint(content: self.content(collapseID: "a")).check(binary)
        #expect(warnings.map(\.field) == ["collapseId"])
    }

    @Test func whereAnotherEnvironmentCanItIsAWarning() throws {
        let both: [PushEnvironment: PushTransport] = [.sandbox: .binary, .production: .http2]
        let lint = TransportLint(content: try self.content(.liveactivity, collapseID: "a", payload: 2049))
        #expect(try lint.check(both).map(\.field) == ["pushType", "payload", "collapseId"])
        #expect(try lint.check([.production: .http2]).isEmpty)
        #expect(try lint.check([:]).isEmpty)
    }
}
