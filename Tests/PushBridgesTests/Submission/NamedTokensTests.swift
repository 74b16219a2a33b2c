import PushStore
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// What the store knows of tokens decides where they are sent to.
@Suite struct NamedTokensTests {
    private static let (a, b) = (DeviceToken.numbered(1), DeviceToken.numbered(2))

    private static func device(
        _ environment: PushEnvironment,
        _ isActive: Bool = true,
        kind: DeviceTokenKind = .alert
    ) -> NamedTokenRegistration {
        NamedTokenRegistration(environment: environment, kind: kind, isActive: isActive)
    }

    private static func sort(
        _ registrations: [NamedTokenRegistration],
        environment: PushEnvironment? = nil,
        wanted: DeviceTokenKind? = .alert
    ) -> NamedTokens {
        NamedTokens([self.a], registrations: [self.a: registrations], wanted: wanted, environment: environment)
    }

    @Test func anUnknownTokenIsSentTo() {
        let sorted = NamedTokens([Self.a, Self.b, Self.a], registrations: [:], wanted: .alert, environment: nil)
        #expect(sorted.groups == [.init(environment: nil, tokens: [Self.a, Self.b])])
        #expect(sorted.refused.isEmpty)
    }

    @Test func aTokenIsSentToWhereItIsRegistered() {
        #expect(Self.sort([Self.device(.sandbox)]).groups.map(\.environment) == [.sandbox])
        #expect(Self.sort([Self.device(.production)]).groups.map(\.environment) == [nil])
        #expect(Self.sort([Self.device(.sandbox), Self.device(.production)]).groups.map(\.environment) == [nil])
        #expect(
            Self.sort([Self.device(.sandbox)], environment: .production).groups.map(\.environment) == [.production]
        )
        #expect(
            Self.sort([Self.device(.sandbox), Self.device(.production, false)]).groups.map(\.environment) == [
                .sandbox
            ]
        )
    }

    @Test func aTokenThatIsGoneOrOfAnotherKindIsRefused() {
        #expect(Self.sort([Self.device(.sandbox, false)]).refused == [Self.a: .unregistered])
        #expect(
            Self.sort([Self.device(.sandbox, false), Self.device(.production)], environment: .sandbox).refused
                == [Self.a: .unregistered]
        )
        #expect(Self.sort([Self.device(.production, kind: .voip)]).refused == [Self.a: .deviceTokenNotForTopic])
        #expect(Self.sort([Self.device(.production, kind: .voip)], wanted: nil).refused.isEmpty)
    }

    @Test func aNotificationHasAtMostAThousandTokens() {
        let tokens = (1...2001).map(DeviceToken.numbered)
        let sorted = NamedTokens(tokens, registrations: [:], wanted: .alert, environment: .sandbox)
        #expect(sorted.groups.map(\.tokens.count) == [1000, 1000, 1])
        #expect(sorted.groups.flatMap(\.tokens) == tokens)
    }

    @Test func onlyAFaultOfATokenAccusesIt() {
        for reason in ["Unregistered", "BadDeviceToken", "DeviceTokenNotForTopic", "ExpiredToken"] {
            #expect(TokenOutcome.rejected(reason).accusesToken)
            #expect(TokenOutcome.rejected(reason).unconfirmed == .unconfirmed(reason))
        }
        for verdict in [.rejected("PayloadTooLarge"), .rejected("?"), .failed("BadDeviceToken")] as [TokenOutcome] {
            #expect(!verdict.accusesToken)
        }
    }
}
