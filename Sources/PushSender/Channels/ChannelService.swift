import Foundation
public import Logging
import NIOCore
import NIOPosix
package import PushSupport
public import PushTypes
import PushWire

/// A client that creates, reads, lists and deletes the broadcast channels of apps (APNs reference 4.1).
///
/// Broadcasts themselves are sent with ``Sender/broadcast(_:)``. The service keeps one connection open while it is
/// used. Every call returns within the time limits of its ``SenderConfiguration``, and may be made from any task.
public final class ChannelService: Sendable {
    /// The maximum size of a response in bytes, enough for the 10,000 channels that Apple allows per environment.
    private static let maximumResponse = 4 * 1024 * 1024

    private let client: ServiceClient

    /// Creates a service. It connects when there is a request to send.
    /// - Parameters:
    ///   - endpoint: The address for channels, for example ``PushServiceEndpoint/appleChannels(_:)``.
    ///   - credential: A signing key, or a certificate of the app.
    ///   - configuration: The time limits and the proxy.
    ///   - logger: The logger for opened and closed connections.
    /// - Throws: The same errors as the initializer of ``Sender``.
    public convenience init(
        to endpoint: PushServiceEndpoint,
        credential: PushCredential,
        configuration: SenderConfiguration = SenderConfiguration(),
        logger: Logger
    ) throws {
        try self.init(to: endpoint, credential: credential, configuration, time: SystemTime(), logger: logger)
    }

    /// Creates a service that reads the time from `time`.
    package init(
        to endpoint: PushServiceEndpoint,
        credential: PushCredential,
        _ configuration: SenderConfiguration,
        time: any TimeSource,
        logger: Logger
    ) throws {
        self.client = ServiceClient(
            endpoint,
            identity: try SenderIdentity(credential, endpoint: endpoint, now: time.now),
            configuration: configuration,
            maximumBody: Self.maximumResponse,
            group: MultiThreadedEventLoopGroup.singleton,
            time: time,
            logger: logger
        )
    }

    /// Creates a channel, which exists until it is deleted.
    ///
    /// Once the request was sent, it is never repeated. After ``ChannelServiceError/unknown(_:)``, ``channels(of:)``
    /// shows whether the channel exists.
    /// - Parameters:
    ///   - storage: The broadcasts that the push service stores for devices that are offline.
    ///   - bundleID: The bundle id of the app.
    /// - Returns: The id of the channel.
    @concurrent
    public func createChannel(storing storage: ChannelStorage, for bundleID: Topic) async throws(ChannelServiceError)
        -> ChannelID
    {
        let body = #"{"message-storage-policy":\#(storage.rawValue),"push-type":"LiveActivity"}"#
        let request = ServiceRequest("POST", Self.path(bundleID), body: ByteBuffer(string: body))
        let response = try await self.response(to: request, isRepeatable: false, status: 201)
        guard let id = response.head.uniqueID.flatMap({ ChannelID($0) }) else {
            throw .malformed("the push service named no channel")
        }
        return id
    }

    /// Returns the storage of a channel: the broadcasts that the push service stores for devices that are offline.
    @concurrent
    public func storage(of channel: ChannelID, of bundleID: Topic) async throws(ChannelServiceError) -> ChannelStorage {
        let request = ServiceRequest("GET", Self.path(bundleID), fields: Self.fields(channel))
        let response = try await self.response(to: request, isRepeatable: true, status: 200)
        let number = Self.object(response)?["message-storage-policy"] as? Int
        guard let storage = number.flatMap(ChannelStorage.init(rawValue:)) else {
            throw .malformed("the push service named no storage policy")
        }
        return storage
    }

    /// Returns the ids of all channels of an app, in the order of the push service.
    @concurrent
    public func channels(of bundleID: Topic) async throws(ChannelServiceError) -> [ChannelID] {
        let request = ServiceRequest("GET", "/1/apps/\(bundleID.name)/all-channels")
        let response = try await self.response(to: request, isRepeatable: true, status: 200)
        guard let texts = Self.object(response)?["channels"] as? [String] else {
            throw .malformed("the push service sent no list of channels")
        }
        let channels = texts.compactMap { ChannelID($0) }
        guard channels.count == texts.count else { throw .malformed("the push service sent something else than ids") }
        return channels
    }

    /// Deletes a channel permanently. Broadcasts that are stored may still arrive.
    @concurrent
    public func deleteChannel(_ channel: ChannelID, of bundleID: Topic) async throws(ChannelServiceError) {
        let request = ServiceRequest("DELETE", Self.path(bundleID), fields: Self.fields(channel))
        _ = try await self.response(to: request, isRepeatable: true, status: 204)
    }

    /// Closes the connection after the outstanding responses have arrived. Further calls throw
    /// ``ChannelServiceError/notSent(_:)``.
    public func close() async { await self.client.close() }

    // MARK: Requests

    private static func path(_ bundleID: Topic) -> String { "/1/apps/\(bundleID.name)/channels" }

    private static func fields(_ channel: ChannelID) -> [HeaderField] {
        [HeaderField(of: "apns-channel-id", channel.text)]
    }

    /// Sends a request, and returns its response, which must have the given status.
    /// - Parameter isRepeatable: Pass `true` if the request may be processed twice.
    /// - Throws: ``ChannelServiceError`` if there is no response, or one with another status.
    private func response(
        to request: ServiceRequest,
        isRepeatable: Bool,
        status: Int
    ) async throws(ChannelServiceError) -> HTTP2Response {
        var request = request
        // A repeated request has the same id.
        request.fields.append(HeaderField(of: "apns-request-id", PushNotification.makeID()))
        switch await self.client.perform(request, isRepeatable: isRepeatable) {
        case .notSent(let failure, _): throw .notSent(failure)
        case .unknown(let failure): throw .unknown(failure)
        case .response(let response):
            guard response.head.status != status else { return response }
            guard response.head.status >= 300 else {
                throw .malformed("the push service answered with the status \(response.head.status)")
            }
            throw .rejected(PushResponse.rejection(response))
        }
    }

    private static func object(_ response: HTTP2Response) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(response.body))) as? [String: Any]
    }
}

/// A client that manages the channels of apps at one push service. The provider manages them only through this
/// protocol.
package protocol ChannelServiceClient: Sendable {
    @concurrent
    func createChannel(storing storage: ChannelStorage, for bundleID: Topic) async throws(ChannelServiceError)
        -> ChannelID
    @concurrent
    func storage(of channel: ChannelID, of bundleID: Topic) async throws(ChannelServiceError) -> ChannelStorage
    @concurrent
    func channels(of bundleID: Topic) async throws(ChannelServiceError) -> [ChannelID]
    @concurrent
    func deleteChannel(_ channel: ChannelID, of bundleID: Topic) async throws(ChannelServiceError)
}

extension ChannelService: ChannelServiceClient {}

/// The reason why a call of ``ChannelService`` has no result.
public enum ChannelServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error for a request that the push service rejected, for example with the reason `ChannelNotRegistered`.
    case rejected(Rejection)
    /// The error for a request that the push service did not process, so that it is safe to send it again.
    case notSent(Outcome.Failure)
    /// The error for a request whose response did not arrive. The push service may have processed it.
    case unknown(Outcome.Failure)
    /// The error for a response that cannot be parsed, for the reason that the text describes.
    case malformed(String)

    /// A readable description of the error.
    public var description: String {
        switch self {
        case .rejected(let rejection):
            rejection.reasonText.isEmpty ? "status \(rejection.status)" : rejection.reasonText
        case .notSent(let failure), .unknown(let failure): failure.description
        case .malformed(let text): text
        }
    }
}
