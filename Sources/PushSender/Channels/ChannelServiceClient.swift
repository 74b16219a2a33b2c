package import PushTypes

/// Manages the channels of apps at one push service. The provider sees it through this protocol only.
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
