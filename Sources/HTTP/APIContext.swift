public import Hummingbird
internal import NIOCore

/// What Hummingbird knows of a request besides its words.
public struct APIContext: RequestContext {
    public var coreContext: CoreRequestContextStorage
    let peer: Peer

    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = Peer(source.channel.remoteAddress)
    }
}
