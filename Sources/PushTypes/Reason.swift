/// The push service's reason for rejecting a request. This is the only table of reason strings, HTTP statuses and
/// status bytes of the binary protocol (APNs reference 1.9, 4.3, 5.2 and 9.1).
public enum Reason: String, Error, CaseIterable, Hashable, Sendable {
    case badAuthorizationHeader = "BadAuthorizationHeader"
    case badCertificate = "BadCertificate"
    case badCertificateEnvironment = "BadCertificateEnvironment"
    case badChannelId = "BadChannelId"
    case badCollapseId = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    /// The documented spelling. Apple's servers send ``badEnvironmentKeyInToken`` instead (APNs reference 1.9).
    case badEnvironmentKeyIdInToken = "BadEnvironmentKeyIdInToken"
    case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
    case badExpirationDate = "BadExpirationDate"
    case badJwtToken = "BadJwtToken"
    case badMessageId = "BadMessageId"
    case badPath = "BadPath"
    case badPriority = "BadPriority"
    case badRequestParams = "BadRequestParams"
    case badRequestPayload = "BadRequestPayload"
    case badTopic = "BadTopic"
    case badTtl = "BadTtl"
    case badUrgency = "BadUrgency"
    case badVapidPublicKey = "BadVapidPublicKey"
    case badWebPushRequest = "BadWebPushRequest"
    case badWebPushTopic = "BadWebPushTopic"
    case cannotCreateChannelConfig = "CannotCreateChannelConfig"
    case channelNotRegistered = "ChannelNotRegistered"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case expiredProviderToken = "ExpiredProviderToken"
    case expiredToken = "ExpiredToken"
    case featureNotEnabled = "FeatureNotEnabled"
    case forbidden = "Forbidden"
    case idleTimeout = "IdleTimeout"
    case internalServerError = "InternalServerError"
    case invalidProviderToken = "InvalidProviderToken"
    case invalidPushType = "InvalidPushType"
    case methodNotAllowed = "MethodNotAllowed"
    case missingChannelId = "MissingChannelId"
    case missingChannelQueueSize = "MissingChannelQueueSize"
    case missingDeviceToken = "MissingDeviceToken"
    case missingProviderToken = "MissingProviderToken"
    case missingPushType = "MissingPushType"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case payloadTooLarge = "PayloadTooLarge"
    case serviceUnavailable = "ServiceUnavailable"
    case shutdown = "Shutdown"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case tooManyRequests = "TooManyRequests"
    case topicDisallowed = "TopicDisallowed"
    case topicMismatch = "TopicMismatch"
    case unregistered = "Unregistered"
    case unrelatedKeyIdInToken = "UnrelatedKeyIdInToken"
    case vapidPkHashMismatch = "VapidPkHashMismatch"

    /// The member `reason` of the JSON body of the response.
    public var text: String { self.rawValue }

    /// The HTTP status of the response (APNs reference 1.9).
    public var status: Int { self.row.status }

    /// The status byte in an error packet of the binary protocol (APNs reference 5.2), or 255 if the reason has none.
    package var binaryStatus: UInt8 { self.row.legacy }

    // swift-format-ignore
    private var row: (status: Int, legacy: UInt8) {
        switch self {
        case .badAuthorizationHeader:      (403, 255)
        case .badCertificate:              (403, 3)
        case .badCertificateEnvironment:   (403, 3)
        case .badChannelId:                (400, 255)
        case .badCollapseId:               (400, 255)
        case .badDeviceToken:              (400, 8)
        case .badEnvironmentKeyIdInToken:  (403, 255)
        case .badEnvironmentKeyInToken:    (403, 255)
        case .badExpirationDate:           (400, 128)
        case .badJwtToken:                 (403, 255)
        case .badMessageId:                (400, 128)
        case .badPath:                     (404, 128)
        case .badPriority:                 (400, 128)
        case .badRequestParams:            (400, 255)
        case .badRequestPayload:           (400, 7)
        case .badTopic:                    (400, 6)
        case .badTtl:                      (400, 255)
        case .badUrgency:                  (400, 255)
        case .badVapidPublicKey:           (403, 255)
        case .badWebPushRequest:           (400, 255)
        case .badWebPushTopic:             (400, 255)
        case .cannotCreateChannelConfig:   (400, 255)
        case .channelNotRegistered:        (400, 255)
        case .deviceTokenNotForTopic:      (400, 8)
        case .duplicateHeaders:            (400, 128)
        case .expiredProviderToken:        (403, 255)
        case .expiredToken:                (410, 8)
        case .featureNotEnabled:           (400, 255)
        case .forbidden:                   (403, 255)
        case .idleTimeout:                 (400, 10)
        case .internalServerError:         (500, 1)
        case .invalidProviderToken:        (403, 255)
        case .invalidPushType:             (400, 255)
        case .methodNotAllowed:            (405, 128)
        case .missingChannelId:            (400, 255)
        case .missingChannelQueueSize:     (400, 255)
        case .missingDeviceToken:          (400, 2)
        case .missingProviderToken:        (403, 255)
        case .missingPushType:             (400, 255)
        case .missingTopic:                (400, 3)
        case .payloadEmpty:                (400, 4)
        case .payloadTooLarge:             (413, 7)
        case .serviceUnavailable:          (503, 1)
        case .shutdown:                    (503, 10)
        case .tooManyProviderTokenUpdates: (429, 255)
        case .tooManyRequests:             (429, 1)
        case .topicDisallowed:             (400, 3)
        case .topicMismatch:               (403, 3)
        case .unregistered:                (410, 8)
        case .unrelatedKeyIdInToken:       (403, 255)
        case .vapidPkHashMismatch:         (403, 255)
        }
    }
}
