package import ProviderModel
import PushSupport
import PushTypes

/// Expressions of every kind, over a small vocabulary so that they choose somebody; the same in every run.
package struct AudienceGenerator {
    private var generator: SeededGenerator

    package init(seed: UInt64) {
        self.generator = SeededGenerator(seed: seed)
    }

    /// - Parameter depth: how deep and, or and not may nest.
    package mutating func expression(depth: Int) -> AudienceExpression {
        guard depth > 0 else { return self.leaf() }
        switch self.number(5) {
        case 0: return .and(self.several(depth))
        case 1: return .or(self.several(depth))
        case 2: return .not(self.expression(depth: depth - 1))
        default: return self.leaf()
        }
    }

    private mutating func several(_ depth: Int) -> [AudienceExpression] {
        (0...self.number(3)).map { _ in self.expression(depth: depth - 1) }
    }

    private mutating func leaf() -> AudienceExpression {
        switch self.number(10) {
        case 0: .everyone
        case 1: .token(.numbered(1 + self.number(60)))
        case 2: .user("user\(self.number(20))")
        case 3: .tag("tag\(self.number(6))")
        case 4: .attribute(name: "size", self.comparison(), self.value())
        case 5: .hasAttribute(self.number(2) == 0 ? "size" : "plan")
        case 6: .locale(["de", "de-DE", "de-AT", "pt", "pt-BR", "zh", "x"][self.number(7)])
        case 7: AppVersion("2.\(self.number(12))").map { .appVersion(self.comparison(), $0) } ?? .everyone
        case 8: .timeZone(["Europe/Berlin", "Asia/Tokyo", "UTC"][self.number(3)])
        default: .lastSeen(self.comparison(), Vectors.issuedAt.advanced(by: .seconds(self.number(60))))
        }
    }

    private mutating func comparison() -> AudienceExpression.Comparison {
        AudienceExpression.Comparison.allCases.randomElement(using: &self.generator) ?? .equal
    }

    private mutating func value() -> JSONValue {
        switch self.number(4) {
        case 0: .integer(Int64(self.number(10)))
        case 1: .number(Double(self.number(10)) + 0.5)
        case 2: .string("\(self.number(10))")
        default: .bool(self.number(2) == 0)
        }
    }

    /// A registration whose values the expressions ask for.
    package mutating func registration(_ number: Int) -> DeviceRegistration {
        var registration = DeviceRegistration(
            environment: self.number(2) == 0 ? .sandbox : .production,
            token: .numbered(number)
        )
        let locales = ["de", "de-DE", "de_AT", "dex", "pt-BR", "zh-Hant-TW"]
        if self.number(2) == 0 { registration.user = .set("user\(self.number(20))") }
        if self.number(3) > 0 { registration.locale = .set(locales[self.number(6)]) }
        if self.number(3) > 0 { registration.appVersion = .set("2.\(self.number(12))") }
        if self.number(3) > 0 { registration.timeZone = .set(self.number(2) == 0 ? "Europe/Berlin" : "Asia/Tokyo") }
        registration.tags = Set((0..<self.number(3)).map { _ in "tag\(self.number(6))" })
        if self.number(3) > 0 { registration.attributes["size"] = .set(self.value()) }
        if self.number(5) == 0 { registration.attributes["plan"] = .set(.string("pro")) }
        return registration
    }

    /// Below `bound`.
    package mutating func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self.generator) }
}
