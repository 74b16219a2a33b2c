import PushTypes
import Testing

@Suite struct ReasonTests {
    /// Reference 1.9: every row with its status.
    static let devicePushRows: [(String, Int)] = [
        ("BadCollapseId", 400), ("BadDeviceToken", 400), ("BadExpirationDate", 400), ("BadMessageId", 400),
        ("BadPriority", 400), ("BadTopic", 400), ("DeviceTokenNotForTopic", 400), ("DuplicateHeaders", 400),
        ("IdleTimeout", 400), ("InvalidPushType", 400), ("MissingDeviceToken", 400), ("MissingTopic", 400),
        ("PayloadEmpty", 400), ("TopicDisallowed", 400), ("BadCertificate", 403), ("BadCertificateEnvironment", 403),
        ("ExpiredProviderToken", 403), ("Forbidden", 403), ("InvalidProviderToken", 403),
        ("MissingProviderToken", 403), ("UnrelatedKeyIdInToken", 403), ("BadEnvironmentKeyIdInToken", 403),
        ("BadEnvironmentKeyInToken", 403), ("BadPath", 404), ("MethodNotAllowed", 405), ("ExpiredToken", 410),
        ("Unregistered", 410), ("PayloadTooLarge", 413), ("TooManyProviderTokenUpdates", 429),
        ("TooManyRequests", 429), ("InternalServerError", 500), ("ServiceUnavailable", 503), ("Shutdown", 503),
    ]

    /// Reference 4.3 and 9.1, as far as they are not in the rows above.
    static let otherReasons = [
        "FeatureNotEnabled", "MissingChannelId", "BadChannelId", "ChannelNotRegistered", "BadRequestParams",
        "BadRequestPayload", "MissingPushType", "CannotCreateChannelConfig", "MissingChannelQueueSize", "TopicMismatch",
        "BadTtl", "BadUrgency", "BadWebPushRequest", "BadWebPushTopic", "VapidPkHashMismatch",
        "BadAuthorizationHeader", "BadJwtToken", "BadVapidPublicKey",
    ]

    @Test(arguments: devicePushRows)
    func everyReasonHasTheStatusOfTheReference(text: String, status: Int) {
        #expect(Reason(rawValue: text)?.status == status)
    }

    @Test func theTableHasExactlyTheReasonsOfTheReference() {
        let expected = Set(Self.devicePushRows.map(\.0) + Self.otherReasons)
        #expect(Set(Reason.allCases.map(\.text)) == expected)
    }

    @Test func legacyStatusBytesAreThoseOfTheBinaryProtocol() {
        let known: Set<UInt8> = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 128, 255]
        #expect(Reason.allCases.allSatisfy { known.contains($0.binaryStatus) })
        #expect(Reason.badDeviceToken.binaryStatus == 8)
        #expect(Reason.payloadTooLarge.binaryStatus == 7)
        #expect(Reason.shutdown.binaryStatus == 10)
    }
}
