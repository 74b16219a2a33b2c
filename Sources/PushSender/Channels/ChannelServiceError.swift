/// The reason for which a call of ``ChannelService`` has no result.
public enum ChannelServiceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The push service rejected the request, for example with the reason `ChannelNotRegistered`.
    case rejected(Rejection)
    /// The push service did not process the request: it is safe to send it again.
    case notSent(Outcome.Failure)
    /// The request was sent and its response did not arrive: it may have been carried out.
    case unknown(Outcome.Failure)
    /// The response cannot be read.
    case malformed(String)

    /// The explanation for people.
    public var description: String {
        switch self {
        case .rejected(let rejection):
            rejection.reasonText.isEmpty ? "status \(rejection.status)" : rejection.reasonText
        case .notSent(let failure), .unknown(let failure): failure.description
        case .malformed(let text): text
        }
    }
}
